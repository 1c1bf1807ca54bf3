import { call } from '../contract.ts';
import { agentId } from '../records.ts';
import { z } from '../zod.ts';
import { wikiClaim, wikiClaimChange, wikiEvidence, wikiPage, wikiPageEntry, wikiPair, wikiProblem } from './wiki-records.ts';

/** Characters of a page that comes in by a method: its file may have 8 MiB. */
const PAGE_CHARS = 7 * 1024 * 1024;

const agent = { agentId: agentId.default('main') };
const path = z.string().min(1).max(390);
const claimId = z.string().min(1).max(64);
const text = z.string().trim().min(1).max(10_000);
const why = z.string().trim().min(1).max(2000);
const evidence = z.array(wikiEvidence).max(200).default([]);
const tags = z.array(z.string().trim().min(1).max(100)).max(50);
const line = z.string().trim().min(1).max(500);
const confidence = z.number().min(0).max(1);
const changed = ['wiki.changed' as const];
const finding = z.object({ claim: wikiClaim, reason: z.string() });

/** The wiki of an agent: Markdown pages and claims with evidence, in the folder `wiki` of its workspace (interface document 2, sections 2.5 and 4.6). */
export const wiki = {
  'wiki.pages': call({
    params: z.strictObject({ ...agent, under: path.optional() }),
    result: z.object({ pages: z.array(wikiPageEntry), count: z.number().int() }),
    docs: 'Lists the pages of a wiki by path, or those under a folder; none where there is no wiki yet.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.page': call({
    params: z.strictObject({ ...agent, path }),
    result: z.object({
      page: wikiPage,
      claims: z.array(wikiClaim),
      /** Links of the page in their order; `path` is null where they lead to no page. */
      links: z.array(z.object({ target: z.string(), heading: z.string().optional(), path: z.string().nullable(), line: z.number().int() })),
      backlinks: z.array(z.object({ path: z.string(), title: z.string(), lines: z.array(z.number().int()) })),
    }),
    docs: 'One page with its claims, its links and who links to it. Its path may be given without `.md`. What is broken in its front matter is told as `problem`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.savePage': call({
    params: z.strictObject({
      ...agent,
      path,
      content: z.string().max(PAGE_CHARS),
      title: line.optional(),
      kind: line.optional(),
      tags: z.array(line).max(200).optional(),
      aliases: z.array(line).max(200).optional(),
      frontMatter: z.string().max(200_000).optional(),
      version: z.string().max(64).nullable().optional(),
    }),
    result: z.object({ page: wikiPage }),
    emits: changed,
    docs: 'Writes a page. What is left out of its front matter stays as it is, and what is broken there is never written over unless `frontMatter` mends it. `version` is that of the page which was edited, null for a new one: where the page is another by now, nothing is written (`ABORTED`, `ALREADY_EXISTS`).',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'],
    policy: { scope: 'write' },
  }),
  'wiki.removePage': call({
    params: z.strictObject({ ...agent, path, version: z.string().max(64).optional() }),
    result: z.object({ removed: z.literal(true), page: wikiPage }),
    emits: changed,
    docs: 'Removes a page and answers with what it was, by which `wiki.savePage` makes it again. Its claims stay, and are told as orphaned.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: { scope: 'write' },
  }),
  'wiki.search': call({
    params: z.strictObject({ ...agent, query: z.string().trim().min(1).max(1000), limit: z.number().int().min(1).max(100).default(20) }),
    result: z.object({
      results: z.array(
        z.object({
          kind: z.enum(['page', 'claim']),
          path: z.string(),
          title: z.string(),
          /** What of it shows the words that were looked for, on one line. */
          text: z.string(),
          claimId: z.string().optional(),
          status: wikiClaim.shape.status.optional(),
          score: z.number(),
        }),
      ),
      count: z.number().int(),
    }),
    docs: 'Searches pages and claims for words, the best first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.claims': call({
    params: z.strictObject({
      ...agent,
      path: path.optional(),
      status: wikiClaim.shape.status.optional(),
      tag: z.string().max(100).optional(),
      below: confidence.optional(),
      limit: z.number().int().min(1).max(1000).default(200),
      offset: z.number().int().min(0).default(0),
    }),
    result: z.object({ claims: z.array(wikiClaim), count: z.number().int() }),
    docs: 'Lists claims, the oldest first: of one page, of one status, with a tag, or with less confidence than `below`. `count` is how many there are in all.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.claim': call({
    params: z.strictObject({ ...agent, id: claimId }),
    result: z.object({ claim: wikiClaim, deleted: z.boolean(), history: z.array(wikiClaimChange) }),
    docs: 'One claim with all that happened to it; of a deleted one, too.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.addClaim': call({
    params: z.strictObject({ ...agent, path, text, evidence, tags: tags.default([]), confidence: confidence.optional() }),
    result: z.object({ claim: wikiClaim }),
    emits: changed,
    docs: 'Adds an active claim to a page, with what it rests on. `confidence` is 0.8 where it is left out.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.updateClaim': call({
    params: z.strictObject({ ...agent, id: claimId, confidence: confidence.optional(), tags: tags.optional(), why: why.optional() }),
    result: z.object({ claim: wikiClaim }),
    emits: changed,
    docs: 'Changes how sure a claim is, or its tags, and says that it was looked at now. What it says is changed by `wiki.supersedeClaim`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.supersedeClaim': call({
    params: z.strictObject({ ...agent, id: claimId, text, rationale: why, evidence }),
    result: z.object({ claim: wikiClaim }),
    emits: changed,
    docs: 'Puts a new claim in the place of an active one, which becomes SUPERSEDED, and says why.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.refuteClaim': call({
    params: z.strictObject({ ...agent, id: claimId, reason: why, evidence }),
    result: z.object({ claim: wikiClaim }),
    emits: changed,
    docs: 'Says that an active claim is not so, why, and what shows it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.keepClaims': call({
    params: z.strictObject({ ...agent, ids: z.tuple([claimId, claimId]), why }),
    result: z.object({ claim: wikiClaim }),
    emits: changed,
    docs: 'Lets two claims stand that seem to contradict each other, and says why: they are told as a contradiction no more.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.deleteClaim': call({
    params: z.strictObject({ ...agent, id: claimId, why: why.optional() }),
    result: z.object({ deleted: z.literal(true) }),
    emits: changed,
    docs: 'Takes a claim out of the wiki; its history stays, and `wiki.restoreClaim` brings it back.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.restoreClaim': call({
    params: z.strictObject({ ...agent, id: claimId }),
    result: z.object({ claim: wikiClaim }),
    emits: changed,
    docs: 'Brings back a claim that was deleted, as it was.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.contradictions': call({
    params: z.strictObject({ ...agent, id: claimId.optional(), limit: z.number().int().min(1).max(1000).default(200) }),
    result: z.object({ pairs: z.array(wikiPair), count: z.number().int(), more: z.boolean() }),
    docs: 'Pairs of active claims that cannot both be so, each with the reason; of one claim (which is the first of each pair), or of the whole wiki. `more`: there may be more than `limit`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.health': call({
    params: z.strictObject({ ...agent }),
    result: z.object({
      stale: z.array(finding),
      lowConfidence: z.array(finding),
      orphaned: z.array(finding),
      contradicted: z.array(wikiPair),
      unreadable: z.array(wikiProblem),
    }),
    docs: 'What wants a look: claims that are stale, unsure, orphaned or contradicted, each with the reason (a thousand of each at the most), and what of the files cannot be read.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.stats': call({
    params: z.strictObject({ ...agent }),
    result: z.object({
      pages: z.number().int(),
      claims: z.number().int(),
      directories: z.number().int(),
      sources: z.number().int(),
      /** The workspace that it lies in, under `wiki/`. */
      workspace: z.string(),
    }),
    docs: 'How much there is in a wiki, and where it lies.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.graph': call({
    params: z.strictObject({ ...agent }),
    result: z.object({
      /** A page, or what links name and is no page yet (`path` null). */
      nodes: z.array(
        z.object({
          id: z.string(),
          title: z.string(),
          path: z.string().nullable(),
          kind: z.string().optional(),
          claims: z.number().int(),
          contradicted: z.boolean(),
        }),
      ),
      edges: z.array(z.object({ from: z.string(), to: z.string(), kind: z.enum(['link', 'contradiction']) })),
    }),
    docs: 'Pages and what leads from one to another: links, and claims that contradict each other.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.export': call({
    params: z.strictObject({ ...agent, deleted: z.boolean().default(false) }),
    result: z.object({ content: z.string(), claims: z.number().int() }),
    docs: 'All claims as JSON lines, each with its whole history; deleted ones only where they are asked for.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.import': call({
    params: z.strictObject({ ...agent, content: z.string().max(PAGE_CHARS) }),
    result: z.object({
      added: z.array(z.string()),
      updated: z.array(z.string()),
      unchanged: z.number().int(),
      /** Of these another history is here, which stays. */
      conflicts: z.array(z.string()),
      problems: z.array(wikiProblem),
    }),
    emits: changed,
    docs: 'Reads in claims as `wiki.export` writes them. Nothing that is here is lost; lines that cannot be read are told.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
