import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { verifies } from '../../tests/requirements.ts';
import { ActiveMemoryRecaller, ActiveRecallConfig, PromptStyle, QueryMode } from '../../web/library/active-recall.ts';
import { DreamingConfig, DreamingPhase, DreamingPhases, PromotionScorer, SignalsStore } from './dreaming.ts';
import { MemoryManager } from './memory.ts';
import { ClaimsManager, ClaimStatus, WikiPage, WikiVault } from './wiki.ts';

const DAY = 86_400_000;
let dir: string;
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'perch-libraries-'))));
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('libraries on a folder', () => {
  verifies('memory.node/libraries', 'active recall finds memories, and reports their source', async () => {
    await using memory = await new MemoryManager(dir).open();
    await memory.addMemory('Ana is allergic to walnuts');
    const config = new ActiveRecallConfig({ query_mode: QueryMode.RECENT, prompt_style: PromptStyle.BALANCED, max_summary_chars: 120 });
    const recaller = new ActiveMemoryRecaller(memory, { ...config }, dir);
    const result = await recaller.recall('Which cake may Ana eat, with her allergies?', [{ role: 'user', content: 'Hi' }], 'main/main');
    expect([result.status, result.isSuccess, result.summary]).toEqual(['ok', true, '- Ana is allergic to walnuts']);
    expect(result.memories[0]?.source).toMatch(/^MEMORY\.md:\d+$/);
    expect(recaller.buildContextMessage(result)?.content).toContain('| - Ana is allergic to walnuts');
    const again = (): Promise<string> =>
      recaller
        .recall('Which cake may Ana eat, with her allergies?', [{ role: 'user', content: 'Hi' }], 'main/main')
        .then(({ summary }) => summary);
    expect(await again()).toBe(result.summary);
    await memory.forget(String(result.memories[0]?.id));
    expect(await again()).toBe('');
    const none = await new ActiveMemoryRecaller(null).recall('x', [], 'main/main');
    expect([none.isUnavailable, recaller.buildContextMessage(none)]).toEqual([true, null]);
  });

  verifies('memory.node/libraries', 'a wiki and its claims lie in a folder that Obsidian opens', async () => {
    const vault = new WikiVault(dir);
    await vault.initialize();
    await vault.savePage(new WikiPage({ path: 'entities/miso', title: 'Miso', content: 'A cat. See [[ana]].' }));
    const evidence = [{ source_id: 'chat-1', source_path: 'dialog/2026-11-22.jsonl', lines: '3-4', weight: 0.9 }];
    const old = await vault.claims.addClaim('entities/miso', 'Miso is 3 years old', evidence, ['cat'], 0.7);
    const other = await vault.claims.addClaim('entities/miso', 'Miso is 5 years old', evidence);
    expect((await vault.claims.findContradictions(old)).map(({ claim }) => claim.id)).toEqual([other.id]);
    const claims = new ClaimsManager(join(dir, '.perch-wiki/claims'));
    const next = await claims.supersedeClaim(old.id, 'Miso is 4 years old', 'Her birthday was in May');
    expect([(await claims.getClaim(old.id)).status, next.status]).toEqual([ClaimStatus.SUPERSEDED, ClaimStatus.ACTIVE]);
    await claims.exportToJsonl('reports/claims.jsonl');
    expect(readFileSync(join(dir, 'reports/claims.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
    expect(await claims.updateClaim(next.id, 0.6, ['cat', 'age'])).toMatchObject({ confidence: 0.6, tags: ['cat', 'age'] });
    expect(await claims.updateClaim(next.id, undefined, ['cat'])).toMatchObject({ confidence: 0.6, tags: ['cat'] });
    expect(await claims.updateClaim(next.id, 0.7)).toMatchObject({ confidence: 0.7, tags: ['cat'] });
    await expect(claims.updateClaim(next.id, 7)).rejects.toMatchObject({ code: 'INVALID_PARAMS' });

    const otherDir = mkdtempSync(join(tmpdir(), 'perch-export-'));
    try {
      for (const path of [join(otherDir, 'new/claims.txt'), relative(process.cwd(), join(otherDir, 'claims.jsonl'))]) {
        expect(await vault.claims.exportToJsonl(path)).toEqual({ path: resolve(path), claims: 3 });
        expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(3);
        expect(await claims.importFromJsonl(path)).toMatchObject({ unchanged: 3, problems: [] });
      }
      await expect(claims.exportToJsonl(otherDir)).rejects.toThrow(otherDir);
      await expect(claims.exportToJsonl('no-such-form.txt')).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
    } finally {
      rmSync(otherDir, { recursive: true });
    }

    const again = new WikiVault(dir);
    expect(await again.getStats()).toMatchObject({ pages: 2, claims: 3 });
    expect((await again.getPage('entities/miso'))?.claims).toHaveLength(3);
    expect(readdirSync(join(dir, '.perch-wiki/claims'))).toHaveLength(3);
    expect(readFileSync(join(dir, 'entities/miso.md'), 'utf8')).toMatch(/^---\n[\s\S]*title: Miso[\s\S]*A cat\. See \[\[ana\]\]\./);
  });

  verifies('dreaming/searches', 'searches feed dreaming where its settings say so', async () => {
    const now = Date.now();
    const queries = ['Where is the bike?', 'bike barn'];
    const searched = async (enabled: boolean): Promise<void> => {
      await using memory = await new MemoryManager(dir, {}, undefined, { dreaming: new DreamingConfig({ enabled }) }).open();
      await memory.addMemory('The bike is red');
      await memory.persistDialog([{ role: 'user', content: 'My bike is in the barn of Ana', timestamp: now - DAY, id: '1' }], 'main/main');
      for (const query of queries) expect((await memory.searchMemory(query)).length).toBeGreaterThan(1);
    };
    const signals = new SignalsStore(dir);
    await searched(false);
    expect(await signals.getAllSignals()).toEqual([]);
    await searched(true);
    // Content already in long-term memory is not included.
    expect((await signals.getAllSignals()).map(({ content, recalls }) => [content, recalls.map(({ query }) => query)])).toEqual([
      ['My bike is in the barn of Ana', queries],
    ]);
    const config = new DreamingConfig({ enabled: true, min_score: 0.1, promotion: 'promote' });
    expect(await new DreamingPhases(dir, config).runPhase(DreamingPhase.DEEP)).toMatchObject({ promotedCount: 1 });
    expect(readFileSync(join(dir, 'MEMORY.md'), 'utf8')).toContain('My bike is in the barn of Ana');
  });

  verifies('memory.node/libraries', 'dreaming promotes what was recalled on several days, once', async () => {
    const now = Date.UTC(2026, 10, 22, 3);
    writeFileSync(join(dir, 'dreaming.yaml'), 'dreaming:\n  min_score: 0.1\n  promotion: promote\n');
    const config = await DreamingConfig.fromYaml(join(dir, 'dreaming.yaml'));
    await expect(DreamingConfig.fromYaml(join(dir, 'none.yaml'))).rejects.toThrow(/none\.yaml/);
    await using memory = await new MemoryManager(dir).open();
    await memory.persistDialog([{ role: 'user', content: 'My bike is in the barn', timestamp: now - 3 * DAY, id: '1' }], 'main/main');
    const signals = new SignalsStore(dir, { now: () => now });
    const source = `dialog/${new Date(now - 3 * DAY).toISOString().slice(0, 10)}.jsonl`;
    await signals.note(
      ['where is the bike', 'bike place'].map((query, at) => ({
        ...{ content: 'My bike is in the barn', sourceRef: source, query, score: 0.9 },
        at: now - (2 - at) * DAY,
      })),
    );
    expect(await signals.getStats()).toMatchObject({ total: 1, totalRecallQueries: 2, totalConsolidations: 0 });
    const [signal] = await new SignalsStore(dir).getAllSignals();
    if (!signal) throw new Error('the signal is kept');
    const { score, components } = new PromotionScorer(config).scoreSignal(signal);
    expect(score).toBeGreaterThan(0.1);
    expect(Object.keys(components.toDict())).toHaveLength(6);
    expect(new PromotionScorer().scoreSignal(signal).score).toBeCloseTo(score);
    const relevance = { frequency: 0, diversity: 0, recency: 0, consolidation: 0, conceptual: 0 };
    expect(new PromotionScorer({ scoring_weights: relevance }).scoreSignal(signal).score).toBeCloseTo(0.9);
    expect(() => new PromotionScorer({ min_score: 2 })).toThrow('minScore');
    const phases = (): DreamingPhases => new DreamingPhases(dir, config, { now: () => now });
    expect(await phases().runPhase(DreamingPhase.DEEP)).toMatchObject({ promotedCount: 1 });
    expect(await phases().runPhase(DreamingPhase.DEEP)).toMatchObject({ promotedCount: 0 });
    expect(readFileSync(join(dir, 'MEMORY.md'), 'utf8').match(/My bike is in the barn/g)).toHaveLength(1);
    // A memory search finds it.
    expect((await memory.searchMemory('bicycle')).some(({ path }) => path === 'MEMORY.md')).toBe(true);
  });
});
