// Makes the inbox live. Every page works without it.
"use strict";
