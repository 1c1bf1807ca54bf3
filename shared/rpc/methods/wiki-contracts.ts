import { defineMethod } from '../contract.ts';
import { agentId, linkOrigins } from '../record-schemas.ts';
import { z } from '../zod.ts';
import { wikiClaim, wikiClaimChange, wikiEvidence, wikiPage, wikiPageEntry, wikiContradiction, wikiProblem } from './wiki-records.ts';

/** Maximum number of characters of a page in a call; a file may have up to 8 MiB. */
const MAX_PAGE_CHARS = 7 * 1024 * 1024;

const agentParams = { agentId: agentId.default('main') };
const path = z.string().min(1).max(390);
const claimId = z.string().min(1).max(64);
const text = z.string().trim().min(1).max(10_000);
const why = z.string().trim().min(1).max(2000);
const evidence = z.array(wikiEvidence).max(200).default([]);
const tags = z.array(z.string().trim().min(1).max(100)).max(50);
const line = z.string().trim().min(1).max(500);
const confidence = z.number().min(0).max(1);
const changeEvents = ['wiki.changed' as const];
const finding = z.object({ claim: wikiClaim, reason: z.string() });

/** The wiki of an agent: Markdown pages and claims with evidence, in the folder `wiki` of its workspace. */
export const wikiContracts = {
  'wiki.pages': defineMethod({
    params: z.strictObject({ ...agentParams, under: path.optional() }),
    result: z.object({ pages: z.array(wikiPageEntry), count: z.number().int() }),
    docs: 'Lists the pages of a wiki, or those under a folder, sorted by path. Empty if no wiki exists yet.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.page': defineMethod({
    params: z.strictObject({ ...agentParams, path }),
    result: z.object({
      ...linkOrigins,
      page: wikiPage,
      claims: z.array(wikiClaim),
      /** Links of the page in order. `path` is null if the target does not exist. */
      links: z.array(z.object({ target: z.string(), heading: z.string().optional(), path: z.string().nullable(), line: z.number().int() })),
      backlinks: z.array(z.object({ path: z.string(), title: z.string(), lines: z.array(z.number().int()) })),
    }),
    docs: 'Returns a page with its claims, links and backlinks. The path may omit `.md`. Errors in the front matter are reported as `problem`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.savePage': defineMethod({
    params: z.strictObject({
      ...agentParams,
      path,
      content: z.string().max(MAX_PAGE_CHARS),
      title: line.optional(),
      kind: line.optional(),
      tags: z.array(line).max(200).optional(),
      aliases: z.array(line).max(200).optional(),
      frontMatter: z.string().max(200_000).optional(),
      version: z.string().max(64).nullable().optional(),
      /** Outside sources of an imported page, such as `web:example.com`. It waits for review. */
      outside: z.array(z.string().min(1).max(200)).max(20).optional(),
    }),
    result: z.object({ page: wikiPage }),
    emits: changeEvents,
    docs: 'Creates or replaces a page. Front matter fields that are omitted keep their values; invalid front matter is replaced only if `frontMatter` is given. `version` is the version that was edited, or null for a new page. If the page has changed since, nothing is written and the call returns `ABORTED` or `ALREADY_EXISTS`. With `outside` the page counts as content from outside until a person reviews it.',
    fails: ['NOT_FOUND', 'ALREADY_EXISTS', 'ABORTED'],
    policy: { scope: 'write' },
  }),
  'wiki.removePage': defineMethod({
    params: z.strictObject({ ...agentParams, path, version: z.string().max(64).optional() }),
    result: z.object({
      removed: z.literal(true),
      page: wikiPage,
      /** ID for `trash.restore`. */
      trashId: z.string(),
    }),
    emits: [...changeEvents, 'trash.changed'],
    docs: 'Moves a page to the trash and returns its last state. Its claims are kept and reported as orphaned.',
    fails: ['NOT_FOUND', 'ABORTED'],
    policy: { scope: 'write' },
  }),
  'wiki.search': defineMethod({
    params: z.strictObject({
      ...agentParams,
      query: z.string().trim().min(1).max(1000),
      limit: z.number().int().min(1).max(100).default(20),
    }),
    result: z.object({
      results: z.array(
        z.object({
          kind: z.enum(['page', 'claim']),
          path: z.string(),
          title: z.string(),
          /** The matching part of the page or claim, on one line. */
          text: z.string(),
          claimId: z.string().optional(),
          status: wikiClaim.shape.status.optional(),
          score: z.number(),
        }),
      ),
      count: z.number().int(),
    }),
    docs: 'Searches pages and claims by text, best matches first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.claims': defineMethod({
    params: z.strictObject({
      ...agentParams,
      path: path.optional(),
      status: wikiClaim.shape.status.optional(),
      tag: z.string().max(100).optional(),
      below: confidence.optional(),
      limit: z.number().int().min(1).max(1000).default(200),
      offset: z.number().int().min(0).default(0),
    }),
    result: z.object({ claims: z.array(wikiClaim), count: z.number().int() }),
    docs: 'Lists claims, oldest first. Filters: page, status, tag, and confidence below `below`. `count` is the number of all matching claims.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.claim': defineMethod({
    params: z.strictObject({ ...agentParams, id: claimId }),
    result: z.object({ claim: wikiClaim, deleted: z.boolean(), history: z.array(wikiClaimChange) }),
    docs: 'Returns a claim with its history. Also works for deleted claims.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.addClaim': defineMethod({
    params: z.strictObject({ ...agentParams, path, text, evidence, tags: tags.default([]), confidence: confidence.optional() }),
    result: z.object({ claim: wikiClaim }),
    emits: changeEvents,
    docs: 'Adds an active claim with its evidence to a page. The default `confidence` is 0.8.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.updateClaim': defineMethod({
    params: z.strictObject({ ...agentParams, id: claimId, confidence: confidence.optional(), tags: tags.optional(), why: why.optional() }),
    result: z.object({ claim: wikiClaim }),
    emits: changeEvents,
    docs: 'Changes the confidence or tags of a claim and marks it as reviewed now. To change its text, use `wiki.supersedeClaim`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.supersedeClaim': defineMethod({
    params: z.strictObject({ ...agentParams, id: claimId, text, rationale: why, evidence }),
    result: z.object({ claim: wikiClaim }),
    emits: changeEvents,
    docs: 'Replaces an active claim with a new one and records the reason. The old claim becomes `SUPERSEDED`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.refuteClaim': defineMethod({
    params: z.strictObject({ ...agentParams, id: claimId, reason: why, evidence }),
    result: z.object({ claim: wikiClaim }),
    emits: changeEvents,
    docs: 'Marks an active claim as refuted, with the reason and the evidence against it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.keepClaims': defineMethod({
    params: z.strictObject({ ...agentParams, ids: z.tuple([claimId, claimId]), why }),
    result: z.object({ claim: wikiClaim }),
    emits: changeEvents,
    docs: 'Accepts two claims that appear to contradict each other, with a reason. They are no longer reported as a contradiction.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.deleteClaim': defineMethod({
    params: z.strictObject({ ...agentParams, id: claimId, why: why.optional() }),
    result: z.object({ deleted: z.literal(true) }),
    emits: changeEvents,
    docs: 'Deletes a claim. Its history is kept; `wiki.restoreClaim` restores it.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.restoreClaim': defineMethod({
    params: z.strictObject({ ...agentParams, id: claimId }),
    result: z.object({ claim: wikiClaim }),
    emits: changeEvents,
    docs: 'Restores a deleted claim.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
  'wiki.contradictions': defineMethod({
    params: z.strictObject({ ...agentParams, id: claimId.optional(), limit: z.number().int().min(1).max(1000).default(200) }),
    result: z.object({ pairs: z.array(wikiContradiction), count: z.number().int(), more: z.boolean() }),
    docs: 'Lists pairs of active claims that contradict each other, with the reason: for one claim (always the first of its pair) or for the whole wiki. `more` is true if there may be more than `limit` pairs.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.health': defineMethod({
    params: z.strictObject({ ...agentParams }),
    result: z.object({
      stale: z.array(finding),
      lowConfidence: z.array(finding),
      orphaned: z.array(finding),
      contradicted: z.array(wikiContradiction),
      unreadable: z.array(wikiProblem),
    }),
    docs: 'Lists claims that need attention because they are stale, uncertain, orphaned or contradicted (up to 1,000 of each, with the reason), and file contents that cannot be read.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.stats': defineMethod({
    params: z.strictObject({ ...agentParams }),
    result: z.object({
      pages: z.number().int(),
      claims: z.number().int(),
      directories: z.number().int(),
      sources: z.number().int(),
      /** The workspace whose folder `wiki/` contains it. */
      workspace: z.string(),
    }),
    docs: 'Returns the size of a wiki and the workspace it is stored in.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.graph': defineMethod({
    params: z.strictObject({ ...agentParams }),
    result: z.object({
      /** A page, or the target of a link that does not exist yet (`path` is null). */
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
    docs: 'Returns the pages of a wiki as a graph whose edges are links and contradictions.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.export': defineMethod({
    params: z.strictObject({ ...agentParams, deleted: z.boolean().default(false) }),
    result: z.object({ content: z.string(), claims: z.number().int() }),
    docs: 'Exports all claims with their history as JSON Lines. Deleted claims are included only with `deleted: true`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'wiki.import': defineMethod({
    params: z.strictObject({ ...agentParams, content: z.string().max(MAX_PAGE_CHARS) }),
    result: z.object({
      added: z.array(z.string()),
      updated: z.array(z.string()),
      unchanged: z.number().int(),
      /** IDs of claims whose existing history differs; it is kept. */
      conflicts: z.array(z.string()),
      problems: z.array(wikiProblem),
    }),
    emits: changeEvents,
    docs: 'Imports claims in the format of `wiki.export`. Existing claims are never lost. Lines that cannot be read are reported as `problems`.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'write' },
  }),
};
