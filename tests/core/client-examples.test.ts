import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { startCliGateway } from '../../bridge/cli/tests/cli-gateway.ts';
import { verifies } from '../requirements.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/client.md'), 'utf8');

interface Example {
  file: string;
  code: string;
  /** Output that the page documents; undefined for a module. */
  output: string | undefined;
}

/** A block of code whose first line names its file, and the block that follows it. */
const examples: Example[] = [...page.matchAll(/```js\n(\/\/ (\S+)\n[\s\S]*?)```\n(?:\n```\n([\s\S]*?)```\n)?/g)].map(
  ([, code = '', file = '', output]) => ({ file, code, output }),
);

/** Whether a text is the one of the page, where `…` stands for anything. */
function toPattern(output: string): RegExp {
  const escaped = output.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('…', '[\\s\\S]+?')}$`);
}

/** A folder in which the examples lie, and `perch/client` is this repository's. */
function createProjectFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'perch-client-'));
  const library = join(path, 'node_modules/perch');
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, 'package.json'), JSON.stringify({ name: 'perch', type: 'module', exports: { './client': './client.js' } }));
  writeFileSync(join(library, 'client.js'), `export * from ${JSON.stringify(pathToFileURL(join(root, 'shared/client/index.ts')))};\n`);
  writeFileSync(join(path, 'package.json'), JSON.stringify({ type: 'module' }));
  for (const { file, code } of examples) writeFileSync(join(path, file), code);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

verifies(
  'client/examples',
  'each example of the page runs as written and prints the documented output',
  async () => {
    expect(examples.map(({ file }) => file)).toEqual(
      ['connect', 'agents', 'ask', 'chat', 'stop', 'memory', 'watch', 'key', 'errors', 'reconnect'].map((name) => `${name}.js`),
    );
    // No block of code is left out.
    expect(page.match(/```js/g)).toHaveLength(examples.length);
    // The story is endless until it is stopped.
    await using at = await startCliGateway({
      model: ({ body, signal }) =>
        JSON.stringify(body.messages.at(-1)).includes('long story')
          ? ['Once', { wait: new Promise((resolve) => signal.addEventListener('abort', resolve)) }]
          : ['Hello', ' there'],
    });
    using project = createProjectFolder();
    const env = { ...process.env, PERCH_URL: `${at.bridge.url.replace('http', 'ws')}/ws`, PERCH_TOKEN: at.bridge.token };
    for (const { file, output } of examples) {
      if (output === undefined) continue;
      const child = spawn(process.execPath, [file], { cwd: project.path, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect([stderr, child.exitCode], file).toEqual(['', 0]);
      expect(stdout, file).toMatch(toPattern(output));
    }
  },
  120_000,
);
