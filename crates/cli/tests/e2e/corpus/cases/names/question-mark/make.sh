printf -- 'a\077' > name
