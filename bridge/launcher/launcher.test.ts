import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import ts from 'typescript';
import { expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';

const source = readFileSync(join(import.meta.dirname, 'perch.cjs'), 'utf8');

/** Runs the command under a version of Node. Returns its standard error, exit code and loaded modules. */
function runOn(node: string, engines = '>=22.18') {
  const result = { stderr: '', loaded: [] as string[] };
  const process = { versions: { node }, exitCode: 0, stderr: { write: (text: string) => (result.stderr += text) } };
  const require = (name: string): unknown => {
    if (name === '../package.json') return { engines: { node: engines } };
    return result.loaded.push(name);
  };
  runInNewContext(source.replace(/^#!.*/, ''), { process, require });
  return { ...result, exitCode: process.exitCode };
}

verifies('cli/old-node', 'a Node that is too old gets one line that names the version needed', () => {
  for (const old of ['0.10.48', '8.17.0', '20.20.2', '22.9.0', '22.17.1'])
    expect(runOn(old), old).toEqual({ stderr: `perch: Perch needs Node 22.18 or newer. This is Node ${old}.\n`, loaded: [], exitCode: 1 });
  for (const good of ['22.18.0', '22.100.0', '24.0.0', '100.1.0'])
    expect(runOn(good), good).toEqual({ stderr: '', loaded: ['./program.cjs'], exitCode: 0 });
});

verifies('cli/old-node', 'what an old Node parses is ES5', () => {
  // Compiling to ES5 leaves text without newer syntax unchanged.
  const { outputText } = ts.transpileModule(source, { compilerOptions: { target: ts.ScriptTarget.ES5, module: ts.ModuleKind.CommonJS } });
  const bare = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  expect(bare(outputText)).toBe(bare(source));
});

/** The system's Node, if it is older than Perch requires. */
const SYSTEM_NODE = '/usr/bin/node';
const isOld = existsSync(SYSTEM_NODE) && /^v(?:[0-9]|1\d|2[01])\./.test(spawnSync(SYSTEM_NODE, ['--version'], { encoding: 'utf8' }).stdout);

verifies('cli/old-node', 'run by the system’s Node, where that is old', ({ skip }) => {
  skip(!isOld, 'the system has no old Node');
  const folder = mkdtempSync(join(tmpdir(), 'perch-old-'));
  try {
    mkdirSync(join(folder, 'dist'));
    cpSync(join(import.meta.dirname, 'perch.cjs'), join(folder, 'dist/perch.cjs'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', engines: { node: '>=22.18' } }));
    const { status, stdout, stderr } = spawnSync(SYSTEM_NODE, [join(folder, 'dist/perch.cjs'), '--version'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^perch: Perch needs Node 22\.18 or newer\. This is Node [\d.]+\.\n$/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
