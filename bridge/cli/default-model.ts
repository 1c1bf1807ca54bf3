import { realpath, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { applyEdits, modify, parse } from 'jsonc-parser';
import { z } from '#shared/rpc/zod.ts';
import { readFileIfExists, writeFileAtomically } from '../home-directory.ts';

const configSchema = z.object({ chat: z.object({ model: z.string() }) });

/**
 * Removes `chat.model` from the configuration file of a home that no gateway serves, if it is set to `key`. The next gateway reads the
 * file. Returns whether the file changed.
 */
export async function clearDefaultModel(home: string, key: string): Promise<boolean> {
  const path = join(home, 'config.json');
  const text = await readFileIfExists(path);
  if (text === undefined) return false;
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const json = text.slice(mark.length);
  const document: unknown = parse(json, [], { allowTrailingComma: true });
  if (configSchema.safeParse(document).data?.chat.model !== key) return false;
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
  const next = mark + applyEdits(json, modify(json, ['chat', 'model'], undefined, { formattingOptions }));
  await writeFileAtomically(await realpath(path).catch(() => path), next, rename);
  return true;
}
