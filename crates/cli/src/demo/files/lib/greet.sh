# greet LANGUAGE NAME: a greeting.
greet() {
    case $1 in
        en) word=Hello ;;
        *) echo "greet: I do not speak $1" >&2; return 1 ;;
    esac
    echo "$word, $2!"
}
