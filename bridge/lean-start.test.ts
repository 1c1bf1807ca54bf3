import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../tests/requirements.ts';

/** Returns the modules that a program of the bridge loads at start: files of packages, our own files and Node's built-ins. */
function listLoadedModules(file: string): string[] {
  const script = `
    import { registerHooks } from 'node:module';
    const files = [];
    registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
    // The journal's thread finds out that it is none.
    await import(${JSON.stringify(pathToFileURL(join(import.meta.dirname, file)))}).catch(() => {});
    console.log(JSON.stringify([...files, ...process.moduleLoadList]));
    process.exit();`;
  const loaded: unknown = JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
  if (!Array.isArray(loaded)) throw new Error('there is no list');
  return loaded.map(String);
}

verifies('bridge/lean-start', 'as the modules are that it has loaded', () => {
  const bridge = listLoadedModules('server/start-bridge.ts');
  // Modules for shared vaults load only when a vault is shared (bridge/cli/run-gateway.ts).
  expect(
    [...bridge, ...listLoadedModules('cli/run-gateway.ts')].filter((name) => /@nats-io|@scure|\/sync\/shared-journal/.test(name)),
  ).toEqual([]);
  expect(bridge.filter((name) => /internal\/deps\/undici|\/(ajv|ajv-compiler|fast-json-stringify-compiler)\//.test(name))).toEqual([]);
  expect(bridge.filter((name) => /node_modules\/(undici\/index\.js|prom-client\/)/.test(name))).toEqual([]);
  // Checks that a loaded module appears under its name.
  expect(bridge.some((name) => name.includes('/node_modules/undici/lib/dispatcher/agent.js'))).toBe(true);
  expect(bridge.some((name) => name.includes('/node_modules/fastify/'))).toBe(true);

  const thread = listLoadedModules('journal/thread.ts');
  expect(thread.some((name) => name.endsWith('/bridge/journal/sqlite-journal.ts'))).toBe(true);
  expect(thread.filter((name) => name.includes('/node_modules/'))).toEqual([]);
});
