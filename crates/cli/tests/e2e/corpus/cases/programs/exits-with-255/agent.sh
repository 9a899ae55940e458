#!/bin/sh
exit 255
