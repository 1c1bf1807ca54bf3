import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../../tests/requirements.ts';
import { Claim } from '../claim.ts';
import { findConflict, findContradictingPairs, findContradictions } from './contradiction.ts';
import { AGREEING, CONTRADICTING } from './judged-pairs.ts';

describe('contradictions', () => {
  verifies('wiki.contradictions/judged', 'judged pairs are told apart, each contradiction with its reason', () => {
    const missed = CONTRADICTING.filter(([a, b]) => !findConflict(a, b)).map((pair) => pair.join(' / '));
    const invented = AGREEING.filter(([a, b]) => findConflict(a, b)).map(([a, b]) => `${a} / ${b}: ${findConflict(a, b)?.reason ?? ''}`);
    expect({ missed, invented }).toEqual({ missed: [], invented: [] });
    expect(findConflict('The tower is 324 metres tall.', 'The tower is 0.33 km tall.')).toEqual({
      kind: 'value',
      reason: 'Conflicting values for tower: “0.33 km” and “324 metres”',
    });
  });

  verifies('wiki.contradictions/symmetric', 'whichever claim is named first, with any text; no claim contradicts itself', async () => {
    const pieces = [...CONTRADICTING, ...AGREEING].flat().flatMap((text) => text.split(' '));
    const sentence = fc.oneof(
      fc
        .array(fc.constantFrom(...pieces, 'not', 'no', '5', '7', 'km', 'in 2019', 'never', 'is', '.'), { minLength: 1, maxLength: 12 })
        .map((all) => all.join(' ')),
      fc.string({ unit: 'grapheme', maxLength: 60 }),
    );
    fc.assert(
      fc.property(sentence, sentence, (a, b) => {
        expect(findConflict(a, b)).toEqual(findConflict(b, a));
      }),
      { numRuns: 2000 },
    );
    for (const text of [...CONTRADICTING, ...AGREEING].flat()) expect(findConflict(text, text), text).toBeUndefined();
    const claims = CONTRADICTING.flat().map(
      (text, at) => new Claim({ id: `c${at}`, pagePath: 'x.md', text, createdAt: at, updatedAt: at }),
    );
    const pairs = (await findContradictingPairs(claims)).map((pair) => pair.claims.map(({ id }) => id).join());
    const wanted = CONTRADICTING.map((_, at) => `c${2 * at},c${2 * at + 1}`);
    expect(wanted.filter((pair) => !pairs.includes(pair))).toEqual([]);
  });

  verifies(
    'wiki.contradictions/many',
    'the same are found as by comparing all, others have their turn, and it can be stopped',
    async () => {
      const claims = Array.from({ length: 3000 }, (_, at) => {
        const text =
          at % 3 === 0
            ? `The tower of ${['Pisa', 'Paris', 'Tokyo', 'Toronto'][at % 4]} is ${at} metres tall.`
            : `House number ${at} has ${at % 9} rooms and a garden.`;
        return new Claim({ id: `c${at}`, pagePath: 'x.md', text, createdAt: at, updatedAt: at });
      });
      const [some, rest] = [claims.slice(0, 200), claims.slice(2400, 2600)];
      const few = [...some, ...rest];
      const all = few.flatMap((one, at) =>
        few.slice(at + 1).flatMap((other) => (findConflict(one.text, other.text) ? `${one.id},${other.id}` : [])),
      );
      expect((await findContradictingPairs(few)).map((pair) => pair.claims.map(({ id }) => id).join()).sort()).toEqual(all.sort());
      expect(all.length).toBeGreaterThan(0);
      let turns = 0;
      let over = false;
      const others = async (): Promise<void> => {
        for (; !over; turns++) await new Promise((resolve) => setImmediate(resolve));
      };
      const beside = others();
      const pairs = await findContradictingPairs(claims);
      over = true;
      await beside;
      expect(pairs.length).toBeGreaterThan(100);
      expect(turns).toBeGreaterThan(20);
      expect(await findContradictingPairs(claims, { most: 7 })).toEqual(pairs.slice(0, 7));
      const stopped = AbortSignal.abort(new Error('Enough'));
      await expect(findContradictingPairs(claims, { signal: stopped })).rejects.toThrow('Enough');
      expect(
        await findContradictions(
          pairs[0]?.claims[0] ?? new Claim({ id: 'x', pagePath: 'x', text: 'x', createdAt: 0, updatedAt: 0 }),
          claims,
        ),
      ).not.toEqual([]);
    },
  );
});
