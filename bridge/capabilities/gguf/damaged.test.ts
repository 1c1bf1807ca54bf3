import { describe, expect } from 'vitest';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { verifies } from '../../../tests/requirements.ts';
import { installSharedExtra } from '../../../tests/support/gguf-extra.ts';
import { createGgufFile, createRandom } from '../../../tests/support/gguf-file.ts';
import { createGgufHome, listRunners, TINY_MODEL } from '../../../tests/support/gguf-home.ts';

const { extra, missing } = await installSharedExtra();
const FILES = process.env.PERCH_LONG ? 500 : 50;
/** Offset from which the file only contains weights. */
const HEAD = 9_000;

/** The file truncated or with some bytes changed, mostly in its header. */
function damaged(seed: number): { bytes: Uint8Array; how: string } {
  const random = createRandom(seed);
  const bytes = createGgufFile({ seed: 1 });
  const upTo = (end: number): number => Math.floor(random() * end);
  if (seed % 4 === 0) {
    const length = upTo(seed % 8 === 0 ? HEAD : bytes.length);
    return { bytes: bytes.slice(0, length), how: `cut at ${length}` };
  }
  const places = Array.from({ length: 1 + upTo(seed % 3 === 0 ? 64 : 4) }, () => upTo(seed % 5 === 0 ? bytes.length : HEAD));
  for (const place of places) bytes[place] = upTo(256);
  return { bytes, how: `changed at ${places.join(', ')}` };
}

describe.skipIf(missing !== undefined)(`damaged files${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  verifies(
    'gguf/damaged',
    `${FILES} cut or changed at random`,
    async () => {
      await using at = createGgufHome(extra, { silenceMs: 30_000 });
      const ends = { answered: 0, refused: 0 };
      const base = Number(process.env.PERCH_SEED ?? 1);
      for (let seed = base; seed < base + FILES; seed++) {
        const { bytes, how } = damaged(seed);
        at.put(TINY_MODEL, bytes);
        const ended = await at.generate({ maxTokens: 3 }).catch((error: unknown) => error);
        if (ended instanceof Error) {
          expect(ended, `${seed}: ${how}`).toBeInstanceOf(RpcError);
          expect(ended.message, `${seed}: ${how}`).toMatch(
            /^(Couldn’t (run|load) the model|The model|The process for|The conversation has)\b.*\S/,
          );
          ends.refused++;
        } else ends.answered++;
        await at.gguf.unload();
      }
      // Changed weights or vocabulary entries may have no effect.
      expect(ends.refused).toBeGreaterThan(FILES / 5);
      await expect.poll(listRunners).toEqual([]);
      at.add();
      expect((await at.generate()).outputTokens).toBe(12);
    },
    FILES * 12_000,
  );
});
