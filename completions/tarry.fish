# fish completion for tarry. Commands, options and sections are read from tarry's own help, so that
# they cannot differ from what the program takes.
function __tarry_commands
	tarry --help 2>/dev/null | sed -n 's/^  *tarry \([a-z]*\) .*/\1/p'
end
function __tarry_words
	set -l cmd (commandline -opc)
	test (count $cmd) -ge 2; or return
	# What has options of its own.
	set -l what
	contains $cmd[2] dump report; and set what (string match -r -- '^(?:flow|memory|sharing)$' $cmd[3..-1])[-1]
	tarry $cmd[2] $what --help 2>/dev/null | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p; s/^  \([a-z][a-z]*\)  .*/\1/p'
end
# Recordings and folders; any file where no recording begins so.
function __tarry_files
	set -l at (commandline -ct)
	set -l found $at*.dat $at*.data $at*/
	test (count $found) -gt 0; or set found $at*
	string match -qr '(^|/)\.[^/]*$' -- $at; or set found (string match -rv '(^|/)\.[^/]+$' -- $found)
	printf '%s\n' $found
end
function __tarry_values # of the option before
	set -l cmd (commandline -opc)
	switch $cmd[-1]
		case --to --format
			test $cmd[2] = export; and printf '%s\n' perf dat
		case --clock
			printf '%s\n' start wall trace
		case --color
			printf '%s\n' auto always never truecolor 256 16
	end
end
complete -c tarry -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tarry_commands) --help --version'
complete -c tarry -n 'test (count (commandline -opc)) -ge 2; and test -n "$(__tarry_values)"' -f -a '(__tarry_values)'
complete -c tarry -n 'test (count (commandline -opc)) -ge 2; and test -z "$(__tarry_values)"' -f -a '(__tarry_words; __tarry_files)'
