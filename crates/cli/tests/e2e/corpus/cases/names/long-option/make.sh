printf -- '--upload-pack\075x' > name
