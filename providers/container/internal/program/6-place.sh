# place PATH CONDITION VERSION SIZE: gives a temporary file of SIZE bytes the
# name ./$b, if CONDITION holds, and describes it.
place() {
	case $2 in
	new) claim "$1" "$4" ;;
	same) locked replace "$@" ;;
	*) replace "$@" ;;
	esac
	result=$?
	if [ $result -eq 0 ]; then
		printf '%s\n' "$new"
		return
	fi
	rm -f -- "$1"
	return $result
}

# claim PATH SIZE: gives the file a name that nothing has.
claim() {
	whole "$1" "$2" || return
	if ln $exact -- "$1" "./$b" 2>/dev/null; then
		rm -f -- "$1"
		return
	fi
	! there || return $exists
	# There may be no hard links here.
	locked give "$1"
}

# give PATH: moves something to the name ./$b, which nothing has. If mv fails and
# there is nothing to move, somebody else has moved it. If ./$b has been made meanwhile
# mv asks, and finds no answer. If it asks nothing it has moved, whoever has made PATH
# again since.
give() {
	! there || return $exists
	told attended mv -i $exact -- "$1" "./$b"
	result=$?
	[ "$result$said" != 0 ] || return 0
	survived $result || return
	if [ ! -e "$1" ] && [ ! -L "$1" ]; then
		[ $result -eq 0 ] || return $overtaken
		return
	fi
	case $said in
	*': No space left on device' | *'uota exceeded') # what it has copied to another file system
		rm -r -f -- "./$b"
		return $failed
		;;
	*'ermission denied'* | *'not permitted'* | *'esource busy'*) ;; # after it has copied some, maybe
	*) ! there || return $exists ;;
	esac
	refused
}

# whole PATH SIZE: whether all bytes of a temporary file have been stored. new is
# what stat says of it.
whole() {
	new=$(stat -c "$form" -- "$1" 2>/dev/null) || return $overtaken
	size=${new#* }
	size=${size%% *}
	[ "$size" -eq "$2" ] && return
	printf 'only %s of %s bytes could be stored' "$size" "$2"
	return $failed
}

# replace PATH CONDITION VERSION SIZE: puts the file in place of ./$b.
replace() {
	if there; then
		[ -w "./$b" ] || return $denied
		lines=$(stat -c "$form" -- "./$b" "$1" 2>/dev/null) || return $overtaken
		alike "$@" $lines || return
	elif [ "$2" = same ]; then
		return $conflict
	else
		whole "$1" "$4" || return
	fi
	told mv -f $exact -- "$1" "./$b" && return
	survived $? || return
	[ ! -d "./$b" ] || return $isdir
	refused
}

# alike PATH CONDITION VERSION SIZE OLD... NEW...: tests the condition, and
# makes the new file like the old one but for its bytes and times. OLD and NEW
# are what stat says of the two, nine words each.
alike() {
	[ "$2" = any ] || [ "$3" = "$7 $6 ${11} ${12}" ] || return $conflict
	if [ "${15}" -ne "$4" ]; then
		whole "$1" "$4"
		return
	fi
	new="${14} ${15} ${16} ${17} ${18} ${19} ${20} ${21} ${22}"
	[ "$8:$9" = "${17}:${18}" ] || chown "$8:$9" "$1" 2>/dev/null
	[ "$5" = "${14}" ] && [ "$8" = "${17}" ] || told chmod "${10}" "$1" || return $failed
	[ "${11} ${12}" != "${20} ${21}" ] || later "$1" "${11} ${12}"
}

# later PATH TIME: makes the file newer than TIME. The clock of files ticks so
# slowly that two writes can get one time, and inode numbers are used again:
# nothing else tells such files apart.
later() {
	tries=0
	while [ $tries -lt 1000 ]; do
		touch -- "$1"
		new=$(stat -c "$form" -- "$1") || return $overtaken
		case $new in
		*" $2 "*) tries=$((tries + 1)) ;;
		*) return 0 ;;
		esac
	done
	return $failed
}
