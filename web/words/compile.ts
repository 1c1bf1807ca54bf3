import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '@inlang/paraglide-js';
import type { Plugin } from 'vite';
import { oneObject, oneObjectTypes } from './one-object.ts';

/** The app's words, in three parts: what a visit shows at its start, what the chat's later parts show, and what the pages beside it show. */
const PARTS = ['frame', 'later', 'pages'];
const HERE = import.meta.dirname;
const OUT = join(HERE, '../../.cache/words');
const STAMP = join(OUT, 'compiled');

/** Names and contents of all that the modules are made of. */
function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(join(HERE, '../../node_modules/@inlang/paraglide-js/package.json')));
  for (const name of readdirSync(HERE, { recursive: true, encoding: 'utf8' }).sort())
    if ((name.endsWith('.json') && !name.endsWith('.meta.json')) || name.endsWith('object.ts'))
      hash.update(name).update(readFileSync(join(HERE, name)));
  return hash.digest('hex');
}

function rewriteMessages(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.startsWith('_')) continue;
    const file = join(folder, name);
    writeFileSync(file, (name.endsWith('.d.ts') ? oneObjectTypes : oneObject)(readFileSync(file, 'utf8')));
  }
}

/** Makes a module of each locale's words in `.cache/words`, where the messages (`web/words/<part>/<area>/<locale>.json`) have changed. */
export async function compileWords(): Promise<void> {
  const wanted = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  // Beside it first: a test runner and a build may be at it at once.
  const made = `${OUT}-${String(process.pid)}`;
  mkdirSync(made, { recursive: true });
  for (const part of PARTS) {
    await compile({
      project: join(HERE, `${part}.inlang`),
      outdir: join(made, part),
      outputStructure: 'locale-modules',
      strategy: ['baseLocale'],
      emitTsDeclarations: true,
      emitGitIgnore: false,
      emitReadme: false,
    });
    rewriteMessages(join(made, part, 'messages'));
  }
  writeFileSync(join(made, 'compiled'), wanted);
  rmSync(OUT, { recursive: true, force: true });
  renameSync(made, OUT);
}

/** Compiles again while the development server runs, and shows it. */
export function followWords(): Plugin {
  return {
    name: 'perch-words',
    apply: 'serve',
    async hotUpdate({ file, server }) {
      if (!file.startsWith(HERE) || !file.endsWith('.json')) return;
      await compileWords();
      server.ws.send({ type: 'full-reload' });
    },
  };
}
