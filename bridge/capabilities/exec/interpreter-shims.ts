import { isUtf8 } from 'node:buffer';

/**
 * Makes interpreters run bytes read before, from a copy that only Perch can read, while the script's name, folder and arguments stay the
 * same.
 */

/** Runs the file of the first argument as that of the second. Removes its own frame from tracebacks. */
const PYTHON = `
import sys
def load():
    import os
    from importlib.machinery import SourceFileLoader
    copy, path = sys.argv[1:3]
    del sys.argv[:2]
    if hasattr(sys, 'orig_argv') and copy in sys.orig_argv:
        at = sys.orig_argv.index(copy)
        del sys.orig_argv[at - 2:at + 1]
    if not getattr(sys.flags, 'safe_path', sys.flags.isolated):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    hook = sys.__excepthook__
    def report(kind, error, trace):
        while trace and trace.tb_frame.f_code.co_filename == '<string>':
            trace = trace.tb_next
        hook(kind, error.with_traceback(trace), trace)
    sys.excepthook = report
    if sys.version_info >= (3, 9):
        path = os.path.join(os.getcwd(), path)
    main = sys.modules['__main__']
    main.__file__ = path
    main.__loader__ = SourceFileLoader('__main__', path)
    main.__cached__ = None
    with open(copy, 'rb') as file:
        code = compile(file.read(), path, 'exec', dont_inherit=True)
    del main.load, main.sys
    return code
exec(load())
`.trim();

/** Hides a preloaded module from the script. */
const HIDE_PRELOAD = `const own = process.execArgv.indexOf(__filename);
if (own > 0) process.execArgv.splice(own - 1, 2);
delete require.cache[__filename];`;

export const toPythonArgs = (copy: string, script: string): string[] => ['-c', PYTHON, copy, script];

/** A module for `--require` that makes Node report the program's original path as its own. */
export const toNodeIdentity = (path: string): string => `'use strict';
${HIDE_PRELOAD}
if (process.argv[0] === process.execPath) process.argv[0] = ${JSON.stringify(path)};
process.execPath = ${JSON.stringify(path)};
`;

/**
 * A module for `--require` that provides the approved source for the first load of the main file, with either of Node's loaders, and
 * removes its own traces.
 */
export const toNodePreload = (copy: string, path: string): string => `'use strict';
const fs = require('node:fs');
const nodeModule = require('node:module');
const { pathToFileURL } = require('node:url');
${HIDE_PRELOAD}
const path = ${JSON.stringify(path)};
const url = pathToFileURL(path).href;
const source = fs.readFileSync(${JSON.stringify(copy)}, 'utf8');
if (nodeModule.registerHooks) {
  let served = false;
  nodeModule.registerHooks({
    load(specifier, context, next) {
      const loaded = next(specifier, context);
      if (served || specifier !== url) return loaded;
      served = true;
      return { ...loaded, source, shortCircuit: true };
    },
  });
} else {
  const read = fs.readFileSync;
  fs.readFileSync = function (file, ...rest) {
    if (file !== path) return read.call(this, file, ...rest);
    fs.readFileSync = read;
    const [options] = rest;
    return typeof options === 'string' || options?.encoding ? source : Buffer.from(source);
  };
  if (nodeModule.register) {
    const code = 'const url = ' + JSON.stringify(url) + ', source = ' + JSON.stringify(source) + ';' +
      'export const load = async (asked, context, next) => asked === url ? { ...(await next(asked, context)), source } : next(asked, context);';
    nodeModule.register('data:text/javascript,' + encodeURIComponent(code));
  }
}
`;

/** Maximum bytes of text in one argument. Linux allows 128 KiB. */
const MAX_ARG_BYTES = 100_000;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns shell arguments that run a script's text under its name. `BASH_SOURCE` is empty for such text, so its uses are replaced with a
 * variable. Throws an error for the user if they can't be distinguished from text that the script only passes on.
 */
export function toShellArgs(bytes: Buffer, copy: string, script: string): string[] {
  // A program may be appended to the script, which reads it from its own file.
  const end = bytes.indexOf(0);
  const code = end < 0 ? bytes : bytes.subarray(0, bytes.lastIndexOf('\n', end) + 1);
  const text = code.toString('utf8');
  if (!/\bBASH_SOURCE\b/.test(text)) {
    const fits = code.length < MAX_ARG_BYTES && isUtf8(code);
    return ['-c', fits ? text : `eval "$(head -c ${code.length} ${quote(copy)})"`, script];
  }
  if (!isUtf8(code)) throw new Error('the script uses BASH_SOURCE and is not UTF-8 text');
  if (/<<-?\s*['"\\]/.test(text)) throw new Error('the script uses both BASH_SOURCE and a quoted here-document');
  const [first = '', ...rest] = text.replace(/\bBASH_SOURCE\b/g, 'SCRIPT_BASH_SOURCE').split('\n');
  const scriptText = [`SCRIPT_BASH_SOURCE=${quote(script)}; ${first.startsWith('#') ? '' : first}`, ...rest].join('\n');
  if (Buffer.byteLength(scriptText) >= MAX_ARG_BYTES) throw new Error('the script uses BASH_SOURCE and is longer than 100 KB');
  return ['-c', scriptText, script];
}
