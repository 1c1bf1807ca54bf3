import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lazy } from '#shared/async/lazy.ts';

const ROOT = join(import.meta.dirname, '../..');
const GATEWAY = join(ROOT, 'web/gateway');
/** Modules whose code no test with a fake clock needs. */
const LEFT_OUT = /(documents|browser-models|audio|demo)\/|host\/(worker|cluster-sharing)|tokens\/tokenizers/;

/** Modules that only Vite can load: a benchmark in Node has to do without them. */
const ONLY_VITE = /guide\/docs\.ts$/;

/** Loads what the gateway imports on demand: a fake clock does not wait for code. */
export const loadLazyModules = lazy(async () => {
  const specifiers = new Set<string>();
  for (const file of readdirSync(GATEWAY, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || LEFT_OUT.test(file)) continue;
    for (const [, specifier = ''] of readFileSync(join(GATEWAY, file), 'utf8').matchAll(/import\('([^']+)'\)/g))
      specifiers.add(
        specifier.startsWith('.') ? join(GATEWAY, dirname(file), specifier) : specifier.replace(/^#shared\//, join(ROOT, 'shared/')),
      );
  }
  const isInNode = process.env['VITEST'] === undefined;
  const loadable = [...specifiers].filter((specifier) => !(isInNode && ONLY_VITE.test(specifier)));
  await Promise.all(loadable.map((specifier) => import(specifier)));
});
