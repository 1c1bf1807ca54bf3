import { z } from '../zod.ts';

/** Evidence of a claim. `lines`: `3` or `3-7`; `excerpt`: the exact text of the source. */
export const wikiEvidence = z.strictObject({
  source_id: z.string().trim().min(1).max(500),
  source_path: z.string().max(1000).optional(),
  lines: z
    .string()
    .regex(/^[1-9]\d{0,8}(-[1-9]\d{0,8})?$/, 'must be a line or a range such as 3-7')
    .optional(),
  weight: z.number().min(0).max(1).default(1),
  excerpt: z.string().max(20_000).optional(),
});
export type WikiEvidence = z.infer<typeof wikiEvidence>;

/** A claim. Field names follow the library's file format. Timestamps are in milliseconds since the Unix epoch. */
export const wikiClaim = z.object({
  id: z.string(),
  page_path: z.string(),
  text: z.string(),
  status: z.enum(['ACTIVE', 'SUPERSEDED', 'REFUTED']),
  confidence: z.number(),
  evidence: z.array(wikiEvidence),
  tags: z.array(z.string()),
  created_at: z.number(),
  updated_at: z.number(),
  supersedes: z.string().optional(),
  superseded_by: z.string().optional(),
  /** Why the claim was superseded or refuted. */
  reason: z.string().optional(),
  /** Claims that appear to contradict this one and that a person accepted (see `wiki.keepClaims`). */
  beside: z.array(z.string()).optional(),
});
export type WikiClaim = z.infer<typeof wikiClaim>;

export const wikiClaimChange = z.object({
  event: z.enum(['added', 'imported', 'updated', 'superseded', 'refuted', 'deleted', 'restored', 'kept']),
  at: z.number(),
  why: z.string().optional(),
  /** Evidence against a refuted claim. */
  against: z.array(wikiEvidence).optional(),
  /** The claim after the change. */
  claim: wikiClaim,
});
export type WikiClaimChange = z.infer<typeof wikiClaimChange>;

const pageFields = {
  path: z.string(),
  title: z.string(),
  kind: z.string().optional(),
  tags: z.array(z.string()),
  aliases: z.array(z.string()),
  created: z.string().optional(),
  updated: z.string().optional(),
  /** An error in the front matter, which is left unchanged. */
  problem: z.string().optional(),
};

export const wikiPageEntry = z.object({ ...pageFields, claims: z.number().int(), modifiedAt: z.number() });
export type WikiPageEntry = z.infer<typeof wikiPageEntry>;

export const wikiPage = z.object({
  ...pageFields,
  /** Markdown without the front matter and without the lines that display claims. */
  content: z.string(),
  /** The YAML as written in the file. */
  frontMatter: z.string().optional(),
  version: z.string(),
});
export type WikiPage = z.infer<typeof wikiPage>;

export const wikiContradiction = z.object({
  claims: z.tuple([wikiClaim, wikiClaim]),
  kind: z.enum(['negation', 'value']),
  reason: z.string(),
});
export type WikiContradiction = z.infer<typeof wikiContradiction>;

/** Something in a file that cannot be read. It is left unchanged. */
export const wikiProblem = z.object({ path: z.string(), line: z.number().int(), problem: z.string(), text: z.string() });
