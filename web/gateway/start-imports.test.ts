import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseSync } from 'rolldown/utils';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** Replaced by a literal in builds (web/inline-method-access.ts). */
const METHOD_ACCESS = 'shared/rpc/method-access.ts';

/** Modules that a file imports statically, other than types. */
function readImports(file: string): string[] {
  const { program } = parseSync(file, readFileSync(join(ROOT, file), 'utf8'));
  const sources = program.body.flatMap((node) => {
    if (node.type === 'ImportDeclaration') {
      const isOnlyTypes = node.specifiers.length > 0 && node.specifiers.every((each) => 'importKind' in each && each.importKind === 'type');
      return node.importKind === 'type' || isOnlyTypes ? [] : [node.source.value];
    }
    if (node.type === 'ExportNamedDeclaration' && node.source && node.exportKind !== 'type') return [node.source.value];
    return node.type === 'ExportAllDeclaration' && node.exportKind !== 'type' ? [node.source.value] : [];
  });
  return sources.flatMap((source) => {
    if (source.startsWith('#shared/')) return [source.replace('#shared/', 'shared/')];
    return source.startsWith('.') ? [relative(ROOT, resolve(ROOT, file, '..', source))] : [];
  });
}

it('a gateway starts without contracts, except for methods that a chat page calls first', () => {
  const files = new Set(['web/gateway/host/worker.ts']);
  for (const file of files)
    if (file !== METHOD_ACCESS && existsSync(join(ROOT, file))) for (const each of readImports(file)) files.add(each);
  expect(files.size).toBeGreaterThan(200);
  expect([...files].filter((file) => /(-contracts|-port)\.ts$/.test(file)).sort()).toEqual([
    'shared/rpc/methods/agent-contracts.ts',
    'shared/rpc/methods/approval-contracts.ts',
    'shared/rpc/methods/chat-contracts.ts',
    'shared/rpc/methods/connection-contracts.ts',
    'shared/rpc/methods/model-list-contracts.ts',
    'shared/rpc/methods/session-list-contracts.ts',
    'shared/rpc/methods/sync-contracts.ts',
  ]);
});
