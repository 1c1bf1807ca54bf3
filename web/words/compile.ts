import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile } from '@inlang/paraglide-js';
import type { Plugin } from 'vite';

/** The app's words, in two parts: what every visit shows, and what the pages beside the chats show. */
const PARTS = ['frame', 'pages'];
const HERE = import.meta.dirname;
const OUT = join(HERE, '../../.cache/words');
const STAMP = join(OUT, 'compiled');

/** Names and contents of all that the modules are made of. */
function fingerprint(): string {
  const hash = createHash('sha256').update(readFileSync(join(HERE, '../../node_modules/@inlang/paraglide-js/package.json')));
  for (const name of readdirSync(HERE, { recursive: true, encoding: 'utf8' }).sort())
    if (name.endsWith('.json') && !name.endsWith('.meta.json')) hash.update(name).update(readFileSync(join(HERE, name)));
  return hash.digest('hex');
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
