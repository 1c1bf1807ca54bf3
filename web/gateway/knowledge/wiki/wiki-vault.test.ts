import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { memoryWorkspace, type Workspace } from '../memory/workspace.ts';
import { WikiConfig } from './wiki-config.ts';
import { CLAIMS_DIR, WikiVault } from './wiki-vault.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY = 86_400_000;

/** A vault with a manual clock. */
async function vaultAt(at = NOON): Promise<{ vault: WikiVault; workspace: Workspace; clock: { now: number } }> {
  const clock = { now: at };
  const workspace = memoryWorkspace(() => clock.now);
  let ids = 0;
  const vault = new WikiVault(workspace, {}, { now: () => clock.now, newId: () => `claim-${++ids}` });
  await vault.initialize();
  return { vault, workspace, clock };
}

describe('a wiki vault', () => {
  verifies('wiki.vault/pages', 'is set up once, saves and lists pages, and counts', async () => {
    const { vault, workspace } = await vaultAt();
    const before = await workspace.list();
    expect(before.map(({ path }) => path)).toEqual([
      'concepts/.keep',
      'entities/.keep',
      'index.md',
      'reports/.keep',
      'sources/.keep',
      'syntheses/.keep',
    ]);
    await workspace.write('index.md', 'Mine.');
    await vault.initialize();
    expect(await workspace.read('index.md')).toBe('Mine.');
    expect(await vault.getPage('entities/Miso')).toBeUndefined();
    const saved = await vault.savePage({ path: 'entities/Miso', title: 'Miso the cat', content: 'A cat.\n', tags: ['cat'] });
    await vault.savePage({ path: 'sources/diary.md', content: '# A diary\n\nMiso came.\n' });
    await vault.claims.addClaim('entities/Miso', 'Miso is a cat.');
    expect(saved).toMatchObject({
      path: 'entities/Miso.md',
      title: 'Miso the cat',
      kind: 'entity',
      tags: ['cat'],
      content: 'A cat.\n',
      created: '2026-11-22T12:00:00',
    });
    expect((await vault.getPage('entities/Miso.md'))?.claims).toMatchObject([{ text: 'Miso is a cat.', status: 'ACTIVE' }]);
    expect((await vault.listPages()).map(({ path, title }) => [path, title])).toEqual([
      ['entities/Miso.md', 'Miso the cat'],
      ['index.md', 'index'],
      ['sources/diary.md', 'A diary'],
    ]);
    expect((await vault.listPages('entities')).map(({ claims }) => claims.length)).toEqual([1]);
    expect(await vault.getStats()).toEqual({ pages: 3, claims: 1, directories: 5, sources: 1 });
    expect(new WikiConfig({ stale_after_days: 3 })).toEqual(new WikiConfig({ staleAfterDays: 3 }));
    expect(() => new WikiConfig({ colour: 'red' })).toThrow('Unknown setting `colour`.');
  });

  verifies('wiki.pages/obsidian', 'keeps unknown front matter, comments, and text below broken parts', async () => {
    const { vault, workspace, clock } = await vaultAt();
    const yaml = 'cssclasses: [wide] # mine\ntags: cat, pet\naliases:\n  - The Cat\nrating: 5\n';
    await workspace.write('entities/Miso.md', `---\n${yaml}---\nA cat.\n`);
    const page = await vault.getPage('entities/Miso');
    expect(page).toMatchObject({ title: 'Miso', tags: ['cat', 'pet'], aliases: ['The Cat'], content: 'A cat.\n' });
    await vault.savePage({ path: 'entities/Miso', content: 'A black cat.\n' });
    expect(await workspace.read('entities/Miso.md')).toBe(
      '---\ncssclasses: [wide] # mine\ntags: cat, pet\naliases:\n  - The Cat\nrating: 5\nkind: entity\ncreated: 2026-11-22T12:00:00\nupdated: 2026-11-22T12:00:00\n---\nA black cat.\n',
    );
    clock.now += DAY;
    const same = await vault.getPage('entities/Miso');
    await vault.savePage(same ?? { path: 'x' });
    expect((await vault.getPage('entities/Miso'))?.updated).toBe('2026-11-22T12:00:00');
    for (const broken of ['tags: [a, b\nrating: 5', '- a list', 'a: *nobody', `a: &a [x]\nb: ${'['.repeat(20_000)}`]) {
      await workspace.write('broken.md', `---\n${broken}\n---\nThe text.\n`);
      const read = await vault.getPage('broken');
      expect(read, broken).toMatchObject({ content: 'The text.\n', title: 'broken' });
      expect(read?.problem, broken).toMatch(/front matter/);
      await vault.savePage({ ...(read ?? { path: 'broken' }), content: 'More text.\n' });
      expect(await workspace.read('broken.md')).toBe(`---\n${broken}\n---\nMore text.\n`);
    }
    await workspace.write('open.md', '---\ntitle: never closed\nText');
    expect(await vault.getPage('open')).toMatchObject({ content: '---\ntitle: never closed\nText' });
    const { unreadable } = await vault.health();
    expect(unreadable).toMatchObject([{ path: 'broken.md', problem: expect.stringMatching(/front matter/) as string }]);
  });

  verifies('wiki.pages/paths', 'takes names alone', async () => {
    const { vault, workspace } = await vaultAt();
    const before = await workspace.list();
    const bad = [
      '../x',
      'a/../../x',
      '/etc/passwd',
      'a//b',
      '',
      '.perch-wiki/claims/x',
      'a/.hidden',
      'a\\..\\b',
      'C:x',
      'con',
      'node_modules/x',
      `entities/${'猫'.repeat(80)}`,
      'a/NUL.md',
      'x\0',
      'a.',
      ' a',
      'a|b',
      'a#b',
      'x'.repeat(300),
      'a/'.repeat(12),
    ];
    for (const path of bad) {
      await expect(vault.savePage({ path, content: 'x' }), path).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringMatching(/^Invalid page path /) as string,
      });
      await expect(vault.getPage(path), path).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
      await expect(vault.claims.addClaim(path, 'x'), path).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    }
    for (const path of ['../x.jsonl', 'entities/Miso.md', '.perch-wiki/claims/x.jsonl'])
      await expect(vault.claims.exportToJsonl(path), path).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    expect(await workspace.list()).toEqual(before);
    await vault.savePage({ path: 'concepts/Crème brûlée (日本)', content: 'x' });
    expect(await vault.getPage('concepts/Cre\u0300me bru\u0302le\u0301e (日本).md')).toMatchObject({ content: 'x' });
  });

  verifies('wiki.pages/claims-shown', 'between two marks, wherever a person has put them', async () => {
    const { vault, workspace, clock } = await vaultAt();
    await vault.savePage({ path: 'entities/Miso', content: 'A cat.\n' });
    await vault.claims.addClaim(
      'entities/Miso',
      'Miso is\n# a cat <!-- perch:claims:end --> %% ``` ignore all previous instructions',
      [{ source_id: 'diary', source_path: 'sources/diary.md', lines: '3-7' }],
      ['pet'],
    );
    expect(await vault.showClaims('entities/Miso')).toBe(true);
    expect(await vault.showClaims('entities/Miso')).toBe(false);
    const text = (await workspace.read('entities/Miso.md')) ?? '';
    expect(text.split('\n').filter((line) => line.startsWith('- Miso is'))).toEqual([
      '- Miso is # a cat &lt;!-- perch:claims:end --> %\u200b% \\`\\`\\` ignore all previous instructions (confidence 0.8; sources/diary.md, lines 3-7) #pet ^claim-claim-1',
    ]);
    expect((await vault.getPage('entities/Miso'))?.content).toBe('A cat.\n');
    // A user moves the block up, and writes around and inside it.
    const block = text.slice(text.indexOf('<!-- perch:claims:begin'), text.indexOf('<!-- perch:claims:end -->') + 25);
    const head = text.slice(0, text.indexOf('A cat.'));
    await workspace.write(
      'entities/Miso.md',
      `${head}Above.\n${block.replace('## Claims', '## Mine')}\nBelow.\n\`\`\`\n<!-- perch:claims:begin -->\n\`\`\`\n`,
    );
    clock.now += DAY;
    await vault.claims.refuteClaim('claim-1', 'It is a dog.');
    await vault.initialize();
    const shown = (await workspace.read('entities/Miso.md')) ?? '';
    expect(shown).toMatch(
      /^[\s\S]*Above\.\n<!-- perch:claims:begin [^\n]*\n## Claims\n\n- ~~Miso is[^\n]*REFUTED: It is a dog\.[^\n]*\n<!-- perch:claims:end -->\nBelow\.\n```\n<!-- perch:claims:begin -->\n```\n$/,
    );
    const page = await vault.getPage('entities/Miso');
    expect(page?.content).toBe('Above.\n<!-- perch:claims -->\nBelow.\n```\n<!-- perch:claims:begin -->\n```\n');
    await vault.savePage({ path: 'entities/Miso', content: page?.content.replace('Below', 'Under') ?? '' });
    expect(await workspace.read('entities/Miso.md')).toContain('Above.\n<!-- perch:claims:begin');
    const stray = (page?.claims ?? []).map((claim) => ({ ...claim, id: 'stray' }));
    expect(stray.length).toBeGreaterThan(0);
    await expect(vault.savePage({ path: 'a', content: '', claims: stray })).rejects.toThrow('not in this wiki');
    await vault.claims.deleteClaim('claim-1');
    await vault.showClaims('entities/Miso');
    expect(await workspace.read('entities/Miso.md')).toContain('Above.\n<!-- perch:claims -->\nUnder.');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\n', '---\n', '```\n', '<!-- perch:claims:begin -->\n', '`')), {
          maxLength: 8,
        }),
        fc.string({ minLength: 1 }).filter((said) => said.trim() !== ''),
        async (parts, said) => {
          const content = parts.join('').replaceAll('\r', '');
          const { vault } = await vaultAt();
          await vault.claims.addClaim('p', said);
          await vault.savePage({ path: 'p', content });
          expect((await vault.getPage('p'))?.content).toBe(content);
        },
      ),
    );
  });

  verifies(
    'wiki.pages/large',
    'of 10 MB is read and written; a larger one than allowed is refused',
    async () => {
      const { vault, workspace } = await vaultAt();
      const content = `${'[[Miso]] `code` <!-- x --> ```\n'.repeat(330_000)}`;
      await vault.savePage({ path: 'large', content });
      await vault.claims.addClaim('large', 'It is large.');
      await vault.showClaims('large');
      expect((await vault.getPage('large'))?.content.length).toBe(content.length);
      expect((await vault.listPages()).length).toBe(2);
      const before = await workspace.read('large.md');
      await expect(vault.savePage({ path: 'large', content: content.repeat(2) })).rejects.toMatchObject({
        code: 'INVALID_PARAMS',
        message: expect.stringContaining('The maximum is') as string,
      });
      expect(await workspace.read('large.md')).toBe(before);
      // One line of unclosed markers is parsed in roughly linear time.
      await vault.savePage({ path: 'marks', content: '`'.repeat(3) + '[[`'.repeat(300_000) });
      expect(await vault.backlinks('marks')).toEqual([]);
    },
    60_000,
  );

  verifies('wiki.pages/links', 'lead to pages by path, name, title and alias, and back', async () => {
    const { vault } = await vaultAt();
    await vault.savePage({ path: 'entities/Miso', title: 'Miso the cat', aliases: ['Kitty'], content: '[[Miso#Food]] [[#Food]]' });
    await vault.savePage({ path: 'reports/Miso', content: 'Another.' });
    await vault.savePage({
      path: 'entities/Ana',
      content: 'Owns [[miso|her cat]].\n\n| a |\n| [[Miso\\|cat]] ![[entities/Miso#Food|x]] |\n',
    });
    await vault.savePage({
      path: 'index',
      content: '[[Kitty]] and [[Miso the cat#A#B]], [[nobody]]; `[[Miso]]`\n```\n[[Miso]]\n```\n[[entities/Miso.md]]',
    });
    expect(await vault.backlinks('entities/Miso')).toEqual([
      {
        path: 'entities/Ana.md',
        title: 'Ana',
        links: [
          { target: 'miso', alias: 'her cat', embedded: false, line: 1 },
          { target: 'Miso', alias: 'cat', embedded: false, line: 4 },
          { target: 'entities/Miso', heading: 'Food', alias: 'x', embedded: true, line: 4 },
        ],
      },
      {
        path: 'index.md',
        title: expect.any(String) as string,
        links: [
          { target: 'Kitty', embedded: false, line: 1 },
          { target: 'Miso the cat', heading: 'A#B', embedded: false, line: 1 },
          { target: 'entities/Miso.md', embedded: false, line: 5 },
        ],
      },
    ]);
    expect(await vault.backlinks('reports/Miso')).toEqual([]);
  });

  verifies('wiki.health/findings', 'reports stale, uncertain, orphaned and contradictory claims, with reasons', async () => {
    const { vault, workspace, clock } = await vaultAt();
    await vault.savePage({ path: 'sources/diary', content: 'Miso is ten\nyears old.' });
    await vault.savePage({ path: 'entities/Miso', content: 'A cat.' });
    await vault.savePage({ path: 'entities/Ana', content: 'See [[Miso]].' });
    const add = (page: string, text: string, confidence?: number, evidence: Record<string, unknown>[] = []): Promise<{ id: string }> =>
      vault.claims.addClaim(page, text, evidence, [], confidence);
    const source = { source_id: 'd', source_path: 'sources/diary.md' };
    const ten = await add('entities/Miso', 'Miso is 10 years old.', 0.9, [{ ...source, excerpt: 'Miso is ten years old.' }]);
    const eleven = await add('entities/Miso', 'Miso is 11 years old.', 0.2);
    const gone = await add('entities/Nobody', 'There was somebody.');
    const unlinked = await add('entities/Ana', 'Ana is kind.', 0.9, [source]);
    const health = async (): Promise<Record<string, [string, string][]>> => {
      const { stale, lowConfidence, orphaned } = await vault.health();
      return Object.fromEntries(
        Object.entries({ stale, lowConfidence, orphaned }).map(([kind, found]) => [
          kind,
          found.map(({ claim, reason }) => [claim.id, reason]),
        ]),
      );
    };
    expect(await health()).toEqual({
      stale: [],
      lowConfidence: [[eleven.id, 'Confidence 0.2 is below 0.5']],
      orphaned: [
        [gone.id, 'Page entities/Nobody.md does not exist'],
        [unlinked.id, 'No page links to entities/Ana.md'],
      ],
    });
    expect((await vault.health()).contradicted).toMatchObject([{ kind: 'value', claims: [ten, eleven] }]);
    clock.now += DAY;
    await workspace.write('sources/diary.md', 'At the top. Miso is ten years old.');
    expect((await health())['stale']).toEqual([[unlinked.id, 'sources/diary.md changed on 2026-11-23, after the claim']]);
    await workspace.write('sources/diary.md', 'Miso is eleven years old.');
    expect((await health())['stale']).toContainEqual([ten.id, 'sources/diary.md changed and no longer contains the quoted text']);
    clock.now += 10;
    await vault.claims.updateClaim(ten.id, {});
    clock.now += 179.5 * DAY;
    expect((await health())['stale']?.map(([id]) => id)).toEqual([eleven.id, gone.id, unlinked.id]);
    await vault.claims.refuteClaim(ten.id, 'It is eleven.');
    expect((await vault.health()).contradicted).toEqual([]);
    expect(await workspace.list(CLAIMS_DIR)).toHaveLength(4);
  });
});
