#!/usr/bin/env node
// The `perch` command of the package. Its syntax is ES5: every Node can parse it, and one that is too old says so in one line.
'use strict';

/* eslint-disable @typescript-eslint/no-require-imports -- CommonJS is what every Node reads */
var wanted = require('../package.json').engines.node.replace('>=', '');

/** Whether version `a` is older than version `b`; both are numbers separated by dots. */
function isOlder(a, b) {
  var left = a.split('.');
  var right = b.split('.');
  for (var at = 0; at < right.length; at++) {
    var difference = Number(left[at] || 0) - Number(right[at]);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

if (isOlder(process.versions.node, wanted)) {
  process.stderr.write('perch: Perch needs Node ' + wanted + ' or newer. This is Node ' + process.versions.node + '.\n');
  process.exitCode = 1;
} else {
  // In a file of its own: an old Node cannot parse a dynamic import.
  require('./program.cjs');
}
