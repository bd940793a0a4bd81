# make install, run from where it was put, make uninstall.

build_make() { make -s --no-print-directory -C "$root" O="${O#"$root"/}" "$@"; }

test_installed_runs_and_uninstall_leaves_nothing() {
    build_make install DESTDIR="$PWD/dest" PREFIX=/opt/leak >/dev/null
    (cd dest && find . ! -type d | sort) >files
    for file in bin/leakrun bin/leakreport bin/leaktop bin/leakctl bin/leakgraph share/man/man1/leakctl.1 share/man/man1/leakgraph.1 lib/libleak/libleak.so lib/libleak/leakwatch lib/libleak/leakserve lib/libleak/memcheck \
        share/man/man1/leakrun.1 share/man/man1/leakreport.1 share/man/man1/leaktop.1 share/man/man3/libleak.3 share/man/man7/libleak.7 \
        lib/pkgconfig/libleak.pc share/cmake/libleak/libleakConfig.cmake include/libleak/leak_store.h share/doc/libleak/LICENSE \
        share/doc/libleak/fleet/libleak.rules.yml \
        share/bash-completion/completions/leakrun share/zsh/site-functions/_libleak \
        share/fish/vendor_completions.d/leakctl.fish; do
        says files "^\./opt/leak/$file\$"
    done
    mkdir bin
    ln -s ../dest/opt/leak/bin/leakrun bin/leakrun
    ln -s bin/leakrun again
    dest/opt/leak/bin/leakrun -o r1 sh -c 'exit 5' || equal status $? 5
    ./again -o r2 true
    PATH=$PWD/bin:$PATH env leakrun -o r3 true
    for report in r1 r2 r3; do says $report '^libleak: pid='; done
    dest/opt/leak/lib/libleak/memcheck --log-file=r4 true
    says r4 '^==[0-9]*== ERROR SUMMARY: 0 errors'
    ! grep -rlF "$PWD" dest || fail "paths of the DESTDIR inside"
    build_make uninstall DESTDIR="$PWD/dest" PREFIX=/opt/leak >/dev/null
    equal 'left behind' "$(find dest ! -type d)" ''
    equal 'folders left' "$(find dest -name '*libleak*')" ''
}
test_other_libdir_and_bindir() {
    build_make install DESTDIR="$PWD/dest" PREFIX=/usr libdir=/usr/lib/x/y bindir=/usr/games >/dev/null
    dest/usr/games/leakrun -o r true
    says r '^libleak: pid='
    dest/usr/lib/x/y/libleak/memcheck --log-file=r2 true
    says r2 '^==[0-9]*== ERROR SUMMARY: 0 errors'
    build_make uninstall DESTDIR="$PWD/dest" PREFIX=/usr libdir=/usr/lib/x/y bindir=/usr/games >/dev/null
    equal 'left behind' "$(find dest ! -type d)" ''
}
test_pkg_config_names_the_library() {
    need pkg-config
    build_make install DESTDIR="$PWD/dest" PREFIX=/usr >/dev/null
    export PKG_CONFIG_PATH="$PWD/dest/usr/lib/pkgconfig"
    equal preload "$(pkg-config --variable=preload libleak)" /usr/lib/libleak/libleak.so
    pkg-config --modversion libleak | grep -q '^[0-9]'
}
test_header_and_its_manual_page_agree() {
    for name in $(sed -n 's/^LIBLEAK_\(FUNCTION([a-z *]*, \|PROCEDURE(\)\(libleak_[a-z_]*\),.*/\2/p' "$root/include/libleak.h"); do
        grep -q "^\.Nm $name" "$root/man/libleak.3" || fail "libleak(3) does not know $name"
        grep -q "^\.It Fn $name" "$root/man/libleak.3" || fail "libleak(3) says nothing of $name"
    done
    [ -n "$name" ] || fail 'no function in libleak.h'
    # What the page shows compiles, links and runs without the library and with it.
    { echo '#include <assert.h>'; echo '#include <stdlib.h>'; echo 'void *volatile sink;'
      echo 'static void function(void) { sink = malloc(9); free(sink); }'
      sed -n '/^A test that fails/,/^\.Ed/p' "$root/man/libleak.3" | sed -n '/^#include/p'
      echo 'int main(void) {'
      sed -n '/^A test that fails/,/^\.Ed/p' "$root/man/libleak.3" | sed -n '/^long/,/^assert/p'
      echo 'return before > 0; }'; } >example.c
    ${CC:-cc} -I"$root/include" -o example example.c
    ./example
    leakrun --error-exitcode=9 ./example
}
test_manual_pages_are_whole() {
    need mandoc
    build_make man >/dev/null
    sed -n 's/^OPTION(\([a-z_]*\),.*/\1/p' "$root/include/leak_options.def" | while read -r name; do
        grep -q "^\.It Cm $name Ns = " "$O/man/libleak.7" || fail "libleak(7) does not know $name"
    done
    leakrun --help | grep -o -e '--[a-z][a-z-]*' | sort -u | while read -r name; do
        plain=${name#--}
        grep -q -e "Fl Fl $plain" -e "It Cm $(echo "$plain" | tr - _) " "$root/man/leakrun.1" "$O/man/libleak.7" ||
            fail "leakrun(1) does not know $name"
    done
}
test_every_part_has_the_version_of_the_file() {
    version=$(cat "$root/VERSION")
    leakrun --version | grep -q " $version\$" || fail "leakrun: $(leakrun --version)"
    for tool in leakreport leaktop leakctl leakgraph; do
        "$O/$tool" --version | grep -q " $version\$" || fail "$tool: $("$O/$tool" --version)"
    done
    LD_PRELOAD=$O/libleak.so LIBLEAK_OPTIONS=verbosity=1:dir=$PWD env true 2>err
    says err " version $version\$"
    build_make man >/dev/null
    for page in "$O"/man/*.[137]; do
        grep -q "^\.Os libleak $version\$" "$page" || fail "$page: $(grep '^\.Os' "$page")"
    done
}
test_tarball_has_the_version_and_builds_without_git() {
    need git gzip
    git -C "$root" rev-parse HEAD >/dev/null 2>&1 || skip 'no repository here'
    version=$(cat "$root/VERSION")
    build_make dist O=build/wrapper/dist >/dev/null
    tar -xzf "$root/build/wrapper/dist/libleak-$version.tar.gz"
    rm -r "$root/build/wrapper/dist"
    cd "libleak-$version"
    equal VERSION "$(cat VERSION)" "$version"
    mkdir bin
    printf '#!/bin/sh\nexit 128\n' >bin/git
    chmod 755 bin/git
    # What needs no compiler's half a minute: make reproducible builds all of it.
    PATH=$PWD/bin:$PATH make -s O=build man build/control/main.o >/dev/null
    [ -s build/man/leakrun.1 ] && [ -s build/control/main.o ] || fail "nothing was built"
    equal 'sources without git' "$(PATH=$PWD/bin:$PATH scripts/list-sources control/main.c scripts/lint | sort)" \
        "control/main.c
scripts/lint"
}
test_nobody_else_may_read_what_libleak_writes() {
    umask 0
    LIBLEAK_OPTIONS=log=1:log_file=$PWD/events.log LD_PRELOAD=$O/libleak.so sleep 0.1
    leakrun --keep=kept.leak --no-report sh -c 'find "$XDG_RUNTIME_DIR" /dev/shm/libleak* -user "$(id -u)" \( -name "*.leak" -o -name "libleak*" \) -exec stat -c "%a %F" {} +' >found
    find "$XDG_RUNTIME_DIR" -mindepth 1 -exec stat -c '%a %F' {} + >>found
    stat -c '%a %F' kept.leak events.log >>found
    sed -i "/symbolic link/d" found # they have no modes
    grep -q 'regular' found && grep -q directory found || fail "nothing was found: $(cat found)"
    silent_about found '^[0-7]*[1-7][0-7] |^[0-7]*[1-7] '
}
test_no_path_of_the_build_is_in_a_product() {
    for file in libleak.so leakreport leakwatch leaktop leakserve leakctl leakselftest leakplant; do
        ! grep -qF "$(cd "$root" && pwd -P)/" "$O/$file" || fail "$file has the folder of the build in it"
    done
}
test_cmake_module_adds_a_test_that_fails_for_leaks() {
    need cmake
    build_make install DESTDIR="$PWD/dest" PREFIX=/opt/leak >/dev/null
    # As docs/CI.md has it.
    sed -n '/^```cmake/,/^```/p' "$root/docs/CI.md" | sed '/^```/d' >CMakeLists.txt
    says CMakeLists.txt '^libleak_add_test'
    cp "$root/examples/shelf.c" .
    echo 'int main(void) { return libleak_present() ? 0 : 3; }' | sed '1i#include <libleak.h>' >marks.c
    cmake -S . -B b -Dlibleak_ROOT="$PWD/dest/opt/leak" >log 2>&1 || fail "$(cat log)"
    cmake --build b >log 2>&1 || fail "$(cat log)"
    (cd b && ctest -L libleak --output-on-failure) >log 2>&1 && fail 'the leak did not fail its test'
    says log 'shelf.*Failed'
    says log 'marks.*Passed'
    says log 'lost \(malloc\)'
    cmake -S . -B c -DCMAKE_DISABLE_FIND_PACKAGE_libleak=1 >log 2>&1 && fail 'libleak is REQUIRED, and was not missed'
    return 0
}
test_rpm_spec_has_nothing_that_rpmlint_finds() {
    need rpmlint rpmspec
    build_make rpm-spec >/dev/null
    rpmspec -P "$O/libleak.spec" >parsed
    says parsed "^Version: *$(cat "$root/VERSION")\$"
    rpmlint -r "$root/packaging/libleak.rpmlintrc" "$O/libleak.spec" >said 2>&1 || fail "$(cat said)"
    says said ' 0 errors, 0 warnings'
    # Each file that is installed is in a package.
    build_make install DESTDIR="$PWD/dest" PREFIX=/usr libdir=/usr/lib64 >/dev/null
    sed -n '/^%files/,/^%changelog/p' parsed | grep -o '/[^ ]*' | sed 's|/usr/lib/\(libleak\|pkgconfig\)|/usr/lib64/\1|' >patterns
    (cd dest && find . -type f | sed 's|^\.||') | while read -r file; do
        while read -r pattern; do
            # shellcheck disable=SC2254 # it is a pattern
            case $file in $pattern | ${pattern%\*} | $pattern/*) continue 2 ;; esac
        done <patterns
        echo "$file"
    done >missing
    [ ! -s missing ] || fail "in no package: $(cat missing)"
}
