"""Generates the inputs of the programs, the same on every machine.

Each function writes one file of a given size: 1.0 is that of the published tables.
"""
import os, random

WORDS = ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau "
         "upsilon phi chi psi omega").split()


def made(folder, name, scale, write):
    """Returns the path of an input, which is written if it does not exist."""
    path = os.path.join(folder, "%g-%s" % (scale, name))
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with open(path + ".part", "w") as out:
            write(out, scale, random.Random(42))
        os.rename(path + ".part", path)
    return path


def xml(out, scale, dice):
    """30 MB: records with attributes, nested elements and text."""
    out.write("<?xml version='1.0'?>\n<catalogue>\n")
    for i in range(int(186000 * scale)):
        out.write("<item id='%d' kind='%s'><name>%s %d</name><price currency='%s'>%d.%02d</price>"
                  "<note>%s &amp; %s</note></item>\n"
                  % (i, dice.choice(WORDS), dice.choice(WORDS), dice.randrange(10**6), dice.choice(("EUR", "USD")),
                     dice.randrange(1000), dice.randrange(100), dice.choice(WORDS) * dice.randrange(1, 9),
                     " ".join(dice.choice(WORDS) for _ in range(5))))
    out.write("</catalogue>\n")


def json(out, scale, dice):
    """20 MB: an array of objects with strings, numbers and small arrays."""
    out.write("[\n")
    count = int(141000 * scale)
    for i in range(count):
        tags = ",".join('"%s"' % dice.choice(WORDS) for _ in range(dice.randrange(1, 6)))
        out.write('{"id":%d,"name":"%s %d","tags":[%s],"at":{"x":%d,"y":%.3f},"text":"%s"}%s\n'
                  % (i, dice.choice(WORDS), dice.randrange(1000), tags, dice.randrange(10**6), dice.random() * 100,
                     " ".join(dice.choice(WORDS) for _ in range(8)), "," if i + 1 < count else ""))
    out.write("]\n")


def sql(out, scale, dice):
    """One statement a row, as in a dump, two indices, a few queries."""
    out.write("create table t(a integer primary key, b text, c real, d text);\n"
              "create index tb on t(b);\ncreate index td on t(d, c);\nbegin;\n")
    for i in range(int(240000 * scale)):
        out.write("insert into t values(%d,'%s %d',%.4f,'%s');\n"
                  % (i, dice.choice(WORDS), dice.randrange(10**6), dice.random(), dice.choice(WORDS)))
    out.write("commit;\nselect count(*), sum(length(b)), round(sum(c), 3) from t where b like 'pi%';\n"
              "select d, count(*), round(avg(c), 4) from t group by d order by d;\n")


def python(out, scale, _dice):
    out.write("""\
import collections, json
words = collections.Counter()
for i in range(%d):
    words["w%%d" %% (i * 7919 %% 50000)] += 1
trees = [{"k": str(i), "l": list(range(i %% 20))} for i in range(%d)]
text = json.dumps(trees)
print(len(words), len(text), sum(len(t["l"]) for t in json.loads(text)))
""" % (1000000 * scale, 150000 * scale))


def perl(out, scale, _dice):
    out.write("""\
my (%%h, @l);
for my $i (0 .. %d) {
    my $k = "k" . ($i * 7919 %% 400000);
    $h{$k}{count}++;
    $h{$k}{text} .= "x";
    push @l, [$i, "v$i"] if $i %% 3 == 0;
}
my $n = 0;
$n += length $h{$_}{text} for keys %%h;
print "$n ", scalar(keys %%h), " ", scalar(@l), "\\n";
""" % (1000000 * scale))


# ---- C++ -----------------------------------------------------------------------------------------------

def badly_laid_out(out, scale, dice):
    """For clang-format: functions whose lines are too long, too short, and not indented."""
    out.write("#include <vector>\n#include <string>\n")
    for i in range(int(1600 * scale)):
        names = [dice.choice(WORDS) for _ in range(5)]
        out.write("""\
template<typename T,int N=%(n)d> class %(a)s_%(i)d:public %(b)s_base<T>{public: %(a)s_%(i)d(T first,const \
std::string&%(c)s,int %(d)s=%(n)d):first_(first),%(c)s_(%(c)s){}
int %(e)s(const std::vector<T>&values,int limit)const{int sum=0;for(size_t i=0;i<values.size()&&\
static_cast<int>(i)<limit;++i){if(values[i]%%%(n)d==0){sum+=values[i]*N;}else if(values[i]<0)sum-=1;else{\
switch(values[i]%%3){case 0:sum+=1;break;case 1:sum+=call_with_many_arguments(values[i],sum,limit,first_,\
"%(a)s %(b)s %(c)s %(d)s %(e)s",i,N);break;default:sum^=values[i];}}}
return sum;}
  private: T first_;   // %(a)s
 std::string %(c)s_;     /* %(b)s */ };
""" % dict(i=i, n=dice.randrange(2, 99), a=names[0], b=names[1], c=names[2], d=names[3], e=names[4]))


def ordinary_classes(out, scale, dice):
    """For cppcheck: classes, loops, conditions and pointers, through which it tracks values."""
    out.write("#include <stdlib.h>\n#include <string.h>\n")
    for i in range(int(160 * scale)):
        out.write("""\
struct Node_%(i)d { int value; Node_%(i)d *next; char name[%(n)d]; };
class List_%(i)d {
    Node_%(i)d *head; int count;
public:
    List_%(i)d() : head(0), count(0) {}
    ~List_%(i)d() { while (head) { Node_%(i)d *next = head->next; free(head); head = next; } }
    bool add(int value, const char *name) {
        Node_%(i)d *node = (Node_%(i)d *)malloc(sizeof(Node_%(i)d));
        if (!node) return false;
        node->value = value > %(n)d ? value %% %(n)d : value;
        strncpy(node->name, name, sizeof(node->name) - 1);
        node->name[sizeof(node->name) - 1] = 0;
        node->next = head; head = node; count++;
        return true;
    }
    int sum(int limit) const {
        int total = 0, seen = 0;
        for (Node_%(i)d *n = head; n; n = n->next) {
            if (n->value > limit) continue;
            if (n->value == %(m)d) { total += 2 * n->value; seen++; }
            else if (n->value < 0) total -= n->value;
            else switch (n->value %% 4) { case 0: total++; break; case 1: total += seen; break; default: total ^= 1; }
        }
        return total / (seen + 1);
    }
};
int use_%(i)d(int argc, char **argv) {
    List_%(i)d list; int table[%(n)d], x = argc;
    for (int i = 0; i < %(n)d; i++) table[i] = i * x;
    for (int i = 1; i < argc; i++) if (!list.add(atoi(argv[i]), argv[i])) return 1;
    if (x > %(m)d && table[x %% %(n)d] > 0) x = list.sum(table[%(m)d]); else x = x ? 100 / x : 0;
    return x;
}
""" % dict(i=i, n=dice.randrange(20, 90), m=dice.randrange(1, 19)))


def templates(out, scale, dice):
    """For the compiler: recursion, tuples, containers of containers, each with different types."""
    out.write("""\
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>
template <int N> struct sum { static constexpr int value = N + sum<N - 1>::value; };
template <> struct sum<0> { static constexpr int value = 0; };
template <int... Ns> struct list {};
template <int N, int... Ns> struct count_up : count_up<N - 1, N, Ns...> {};
template <int... Ns> struct count_up<0, Ns...> { using type = list<Ns...>; };
template <int... Ns> int total(list<Ns...>) { return (Ns + ... + 0); }
""")
    for i in range(int(6 * scale)):
        n = dice.randrange(20, 120)
        out.write("""\
struct S%(i)d { int a; std::string b; bool operator<(const S%(i)d &o) const { return a < o.a; } };
int f%(i)d(int x) {
    std::map<std::string, std::vector<S%(i)d>> m;
    std::tuple<S%(i)d, int, std::unique_ptr<S%(i)d>> t;
    m["k"].push_back(S%(i)d{x, "v"});
    std::sort(m["k"].begin(), m["k"].end());
    std::function<int(int)> g = [&](int y) { return y + (int)m.size() + std::get<1>(t); };
    return g(sum<%(n)d>::value) + total(typename count_up<%(n)d>::type());
}
""" % dict(i=i, n=n + i * 3))
