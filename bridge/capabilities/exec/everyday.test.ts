import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCommandEnvironment } from '../../processes/command-environment.ts';
import { type ExecBridge, createExecBridge } from './tests/exec-bridge.ts';

/** Files of a small project; `<name>!` is executable. */
const FILES: Readonly<Record<string, string>> = {
  Makefile: 'all:\n\t@echo made $@ by $(MAKE_VERSION)\n\t@./scripts/show.sh from make\n',
  'data.txt': 'b 2\na 1\nc 3\n',
  'prog.awk': '{ sum += $2 } END { print sum, FILENAME }\n',
  'edit.sed': 's/a/A/\n',
  'package.json': '{"name":"project","version":"1.0.0","scripts":{"hello":"echo hello from npm"}}\n',
  'lib/dep.mjs': 'export const dep = import.meta.url;\n',
  'lib/dep.cjs': 'module.exports = { dep: __filename };\n',
  'main.mjs':
    'import { dep } from "./lib/dep.mjs";\nconsole.log(import.meta.url, import.meta.filename, dep, process.argv, process.execArgv, process.env.NODE_OPTIONS);\nconsole.log(await new Promise((done) => import("./lib/dep.mjs").then((found) => done(Object.keys(found)))));\n',
  'main.cjs':
    'const { dep } = require("./lib/dep.cjs");\nconsole.log(__filename, __dirname, dep, require.main === module, require.main.filename, process.argv, process.execArgv, module.paths.length);\nprocess.exitCode = 7;\n',
  'typed.mts': 'const text: string = import.meta.filename;\nconsole.log(text);\n',
  'fail.mjs': 'console.log("before");\nthrow new TypeError("as it should");\n',
  'fork.cjs':
    'if (process.send) process.send(__filename);\nelse require("node:child_process").fork(__filename).on("message", (text) => console.log(text, process.execArgv));\n',
  'helper.py': 'def where():\n    return __file__\n',
  'main.py':
    'import sys, os, helper\nprint(__file__, sys.argv, sys.path[0], helper.where(), __name__, __spec__, type(__loader__).__name__, __doc__, sorted(k for k in globals() if not k.startswith("__")))\nprint(getattr(sys, "orig_argv", [])[1:])\nprint(os.environ.get("PYTHONPATH"), os.getcwd())\nsys.exit(3)\n',
  'fail.py': 'def inner():\n    raise ValueError("as it should")\ninner()\n',
  'pool.py':
    'import multiprocessing\ndef double(n): return n * 2\nif __name__ == "__main__":\n    multiprocessing.set_start_method("spawn")\n    with multiprocessing.Pool(1) as pool: print(pool.map(double, [1, 2]))\n',
  'main.pl':
    '#!/usr/bin/perl -w\nuse FindBin;\nprint "$0 $FindBin::Bin ", __FILE__, " @ARGV $^W\\n";\nwhile (<DATA>) { print }\nexit 4;\n__DATA__\nfrom DATA\n',
  'scripts/lib.sh': 'lib() { echo "lib ${BASH_SOURCE[0]} $0"; }\n',
  'scripts/show.sh!': '#!/bin/sh\necho "$0 $(dirname "$0") $# $* $PWD"\n',
  'scripts/where.sh!':
    '#!/usr/bin/env bash\nset -euo pipefail\nhere="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"\n. "$here/lib.sh"\nlib\nshow() { echo "${BASH_SOURCE[0]} ${#BASH_SOURCE[@]}"; }\n[[ "${BASH_SOURCE[0]}" == "$0" ]] && echo "main $here $LINENO"\ncat <<END\n$here $1\nEND\nexit 5\n',
  'scripts/fail.sh': 'echo start\nno-such-program\necho "status $?"\nfalse\n',
  'scripts/env.py!': '#!/usr/bin/env -S python3 -u\nimport sys\nprint(sys.argv, __file__, sys.path[0])\n',
  'scripts/tool.mjs!': '#!/usr/bin/env node\nimport { dep } from "../lib/dep.mjs";\nconsole.log(process.argv, dep);\n',
  'scripts/either.sh': 'here=$(dirname "${BASH_SOURCE:-$0}")\necho "$here"\n',
  'main.c':
    '#include <stdio.h>\n#include <unistd.h>\nint main(int argc, char **argv) { char cwd[4096]; printf("%s %d %s\\n", argv[0], argc, getcwd(cwd, sizeof cwd)); return 6; }\n',
};

const COMMANDS: readonly (readonly [command: string, ...args: string[]])[] = [
  ['git', 'status', '--short'],
  ['git', '-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false', 'commit', '--allow-empty', '-q', '-m', 'x'],
  ['npm', 'run', 'hello'],
  ['make'],
  ['sed', '-i', 's/c/C/', 'data.txt'],
  ['sed', '-f', 'edit.sed', 'data.txt'],
  ['sort', 'data.txt', '-o', 'sorted.txt'],
  ['tar', 'czf', 'all.tgz', 'lib', 'data.txt'],
  ['sqlite3', 'new.db', 'create table t (a); insert into t values (1); select * from t;'],
  ['node', 'main.mjs', 'a b', '-x'],
  ['node', '--no-warnings', './main.cjs', '--', 'c'],
  ['node', 'main.cjs'],
  ['node', 'typed.mts'],
  ['node', 'fail.mjs'],
  ['node', 'fork.cjs'],
  ['node', '-e', 'console.log(process.argv)', 'x'],
  ['python3', 'main.py', 'a b'],
  ['python3', '-u', './fail.py'],
  ['python3', 'pool.py'],
  ['python3', '-m', 'json.tool', 'package.json'],
  ['python3', '-c', 'import sys; print(sys.argv)', 'x'],
  ['bash', 'scripts/where.sh', 'one'],
  ['./scripts/where.sh', 'two'],
  ['scripts/show.sh', 'three', ''],
  ['sh', '-eu', 'scripts/show.sh', 'four'],
  ['sh', 'scripts/either.sh'],
  ['sh', 'scripts/fail.sh'],
  ['bash', 'scripts/fail.sh'],
  ['bash', '-c', 'echo "$0 $1"; ./scripts/show.sh', 'zero', 'one'],
  ['./scripts/env.py', 'x'],
  ['./scripts/tool.mjs', 'y'],
  ['timeout', '20', './scripts/show.sh', 'five'],
  ['env', 'A=1', 'sh', 'scripts/show.sh'],
  ['find', '.', '-name', '*.sh'],
  ['grep', '-rn', 'echo', 'scripts'],
  ['cp', 'video.mp4', 'copy.mp4'],
  ['awk', '-f', 'prog.awk', 'data.txt'],
  ['awk', '{ print $1 }', 'data.txt'],
  ['perl', 'main.pl', 'x', 'y'],
  ['perl', '-ne', 'print if /a/', 'data.txt'],
  ['gcc', 'main.c', '-o', 'main'],
  ['./main', 'x'],
];
const VIDEO_BYTES = 200 * 1024 * 1024;

const has = (command: string): boolean => command.includes('/') || spawnSync('which', [command]).status === 0;

describe('everyday commands', () => {
  let exec: ExecBridge;
  let dirs: { plain: string; approved: string };
  let base = '';

  async function writeProject(dir: string): Promise<void> {
    for (const [name, text] of Object.entries(FILES)) {
      const path = join(dir, name.replace(/!$/, ''));
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, text, { mode: name.endsWith('!') ? 0o755 : 0o644 });
    }
    spawnSync('git', ['init', '-q', dir]);
  }

  beforeAll(async () => {
    exec = await createExecBridge();
    base = await mkdtemp(join(tmpdir(), 'everyday-'));
    // Uses the same path for both runs, since many programs print it.
    dirs = { plain: join(base, 'plain'), approved: join(base, 'project') };
    await mkdir(dirs.approved);
    await writeProject(dirs.approved);
  });
  afterAll(async () => {
    await exec[Symbol.asyncDispose]();
    await rm(base, { recursive: true, force: true });
  });

  test.for(COMMANDS.map((words) => [words.join(' '), words] as const))(
    '%s',
    { timeout: 60_000 },
    async ([, [command, ...args]], { skip }) => {
      if (!has(command)) skip();
      if (args.includes('video.mp4')) {
        await writeFile(join(dirs.approved, 'video.mp4'), '');
        await truncate(join(dirs.approved, 'video.mp4'), VIDEO_BYTES);
      }
      await cp(dirs.approved, dirs.plain, { recursive: true, preserveTimestamps: true });
      const plain = spawnSync(command, args, {
        cwd: dirs.approved,
        env: { ...createCommandEnvironment(), PROGRAM_RUN_X: '1' },
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const left = await readdir(dirs.approved, { recursive: true });
      await rm(dirs.approved, { recursive: true });
      await cp(dirs.plain, dirs.approved, { recursive: true, preserveTimestamps: true });
      await rm(dirs.plain, { recursive: true });
      const approved = await exec.run(command, args, { workingDir: dirs.approved });
      expect({ exitCode: approved.exitCode, stdout: approved.stdout, stderr: approved.stderr }).toEqual({
        exitCode: plain.status,
        stdout: plain.stdout,
        stderr: plain.stderr,
      });
      const names = (list: string[]): string[] => list.filter((name) => !/\.git\/objects|__pycache__/.test(name)).sort();
      expect(names(await readdir(dirs.approved, { recursive: true }))).toEqual(names(left));
      for (const name of ['video.mp4', 'copy.mp4']) await rm(join(dirs.approved, name), { force: true });
    },
  );

  test('a server on this machine is asked by curl', async ({ skip }) => {
    if (!has('curl')) skip();
    const server = createServer((_request, response) => response.end('from here'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
    expect(await exec.run('curl', ['-sS', url])).toMatchObject({ exitCode: 0, stdout: 'from here' });
    server.close();
  });
});
