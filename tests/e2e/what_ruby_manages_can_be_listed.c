// The opposite of leaks_of_a_ruby_extension_are_found: with --default-suppressions=off nothing is "not judged", and what
// Ruby left is listed.
// NEEDS: /usr/bin/ruby
// NOBUILD:
// RUN: %run --default-suppressions=off /usr/bin/ruby -rset -e 'a = (1..2000).map { |i| [i.to_s * 40] }; puts a.size'
// EXPECT: blocks lost \([0-9,]+ records(, listed as [0-9]+)?\)
// EXPECT: libruby
// REFUSE: not judged
