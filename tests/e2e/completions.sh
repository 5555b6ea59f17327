#!/usr/bin/env bash
# The completions offer every command and every option that the program has, and files.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
ln -s "$TARRY" "$T/tarry"
export PATH=$T:$PATH
here=$PWD
commands=$(sed -n 's/^\t{"\([a-z]*\)", ty_cmd_.*/\1/p' cli/main.c)
of_bash() { # WORDS...: what is offered for the last one
	bash --norc -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tarry; printf "%s\n" "${COMPREPLY[@]}"' \
		"$here/completions/tarry.bash" "$@"
}
of_fish() { fish -c "source $here/completions/tarry.fish; complete -C '$*'" | cut -f1; }
of_zsh() { # by a terminal of zsh's own: what it has listed when it has been silent for half a second
	zsh -f -c '
	zmodload zsh/zpty
	zpty z zsh -f -i
	zpty -w z "fpath=($1/completions \$fpath); autoload -U compinit; compinit -D -u; unsetopt beep automenu; LISTMAX=1000; PS1=; COLUMNS=200"
	zpty -w z "echo rea\"\"dy"
	zpty -r z out "*ready*"
	zpty -n -w z "$2"$'"'\t'"'
	for ((said = 0, quiet = 0, i = 0; i < 100 && quiet < 5; i++)); do
		sleep 0.1
		((said && ++quiet))
		while zpty -r -t z out; do print -r -- "$out"; [[ $out == *--help* ]] && said=1; quiet=0; done
	done
	zpty -d z' zsh "$here" "$*" 2>/dev/null | sed 's/\x1b\[[?0-9;]*[a-zA-Z]/ /g' | tr -s ' \r' '\n\n'
}
all_in() { # OFFERED WANTED...: is every wanted word among them?
	local offered=$1 w
	shift
	for w; do grep -qxe "$w" <<<"$offered" || { echo "$w is missing in: $(tr '\n' ' ' <<<"$offered")"; return 1; }; done
}

for shell in bash fish zsh; do
	command -v $shell >/dev/null || { skip "$shell" "$shell is not installed"; continue; }
	offered=$(of_$shell tarry '')
	why=$(all_in "$offered" $commands)
	check "$shell: all commands" $? "$why"
	! grep -qx records <<<"$offered"
	check "$shell: a word of the help's text is no command" $? "$offered"
	# What --help lists is the table that parses (cli/options.c).
	for c in view record report dump export 'report x flow' 'report x sharing' 'dump x flow'; do
		told=$("$TARRY" $c --help | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' | sort -u)
		why=$(all_in "$(of_$shell tarry $c --)" $told)
		check "$shell: options of $c" $? "$why"
	done
done
mkdir "$T/files"
touch "$T/files"/{one.dat,notes.txt,perf.data,.one.dat.tarry-index}
mkdir "$T/files/old"
cd "$T/files" || exit 1
for shell in bash fish; do
	command -v $shell >/dev/null || { skip "$shell: recordings" "$shell is not installed"; continue; }
	offered=$(of_$shell tarry view '' | sed 's|/$||' | grep -v '^-' | sort | tr '\n' ' ')
	[ "$offered" = "old one.dat perf.data " ]
	check "$shell: recordings and folders, no index" $? "$offered"
	offered=$(of_$shell tarry view n | tr '\n' ' ')
	[ "$offered" = "notes.txt " ]
	check "$shell: any file where no recording begins so" $? "$offered"
	offered=$(of_$shell tarry view .o | tr '\n' ' ')
	[ "$offered" = ".one.dat.tarry-index " ]
	check "$shell: a hidden one when it is asked for" $? "$offered"
	offered=$(of_$shell tarry export one.dat --to '' | sort | tr '\n' ' ')
	[ "$offered" = "dat perf " ]
	check "$shell: forms of --to" $? "$offered"
	offered=$(of_$shell tarry report one.dat --clock '' | sort | tr '\n' ' ')
	[ "$offered" = "start trace wall " ]
	check "$shell: values of --clock" $? "$offered"
done
if command -v zsh >/dev/null; then
	# What a Tab makes of the line, by what is started then.
	zsh_line() {
		timeout 30 zsh -f -c '
		zmodload zsh/zpty
		zpty z zsh -f -i
		zpty -w z "fpath=($1/completions \$fpath); autoload -U compinit; compinit -D -u; unsetopt beep; PS1="
		zpty -w z "tarry() { [[ \$* == *--help* ]] && command tarry \"\$@\" || print -r -- GOT: \$* END }"
		zpty -w z "echo rea\"\"dy"
		zpty -r z out "*ready*"
		zpty -n -w z "$2"$'"'\t\n'"'
		zpty -r z out "*GOT:*END*"
		print -r -- "$out"
		zpty -d z' zsh "$here" "$1" 2>/dev/null | tr -d '\r' | sed -n 's/.*GOT: \(.*\) END.*/\1/p' | tail -n 1
	}
	is "zsh: a recording, no index and no folder of that name" "view one.dat" "$(zsh_line 'tarry view on')"
	is "zsh: any file where no recording begins so" "view notes.txt" "$(zsh_line 'tarry view no')"
	is "zsh: forms of --to" "export x --to perf" "$(zsh_line 'tarry export x --to p')"
else
	skip "zsh: recordings" "zsh is not installed"
fi
offered=$(of_bash tarry view o)
[ "$(sort <<<"$offered" | tr '\n' ' ')" = "old one.dat " ]
check "bash: files" $? "$offered"
offered=$(bash --norc -c 'source "$0"; COMP_WORDS=(tarry report x sys); COMP_CWORD=3; _tarry; printf "%s\n" "${COMPREPLY[@]}"' "$here/completions/tarry.bash")
[ "$offered" = syscalls ]
check "bash: sections of a report" $? "$offered"
offered=$(bash --norc -c 'source "$0"; COMP_WORDS=(tarry record -- bas); COMP_CWORD=3; _tarry; printf "%s\n" "${COMPREPLY[@]}"' "$here/completions/tarry.bash")
grep -qx bash <<<"$offered"
check "bash: a command behind --" $? "$offered"
echo "1..$n"
