import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { formatZodError } from '../memory/format-zod-error.ts';
import { toCamelCaseKeys } from '../memory/camel-case.ts';

/** Status of a claim. */
export const ClaimStatus = { ACTIVE: 'ACTIVE', SUPERSEDED: 'SUPERSEDED', REFUTED: 'REFUTED' } as const;
export type ClaimStatus = (typeof ClaimStatus)[keyof typeof ClaimStatus];

/** Default confidence of a claim. */
const DEFAULT_CONFIDENCE = 0.8;

const lines = z
  .string()
  .regex(/^[1-9]\d{0,8}(-[1-9]\d{0,8})?$/, 'must be a line or a range such as 3-7')
  .refine((text) => {
    const [from = 0, to = from] = text.split('-').map(Number);
    return from <= to;
  }, 'must not end before it starts');

const evidence = z.strictObject({
  sourceId: z.string().trim().min(1).max(500),
  sourcePath: z.string().max(1000).optional(),
  lines: lines.optional(),
  weight: z.number().min(0).max(1).default(1),
  excerpt: z.string().max(20_000).optional(),
});

/** Input in camelCase or snake_case. */
export type EvidenceInput = z.input<typeof evidence> | Record<string, unknown>;

const text = z.string().trim().min(1, 'must not be empty').max(10_000);
const confidence = z.number().min(0).max(1);
const tags = z
  .array(z.string().trim().min(1).max(100))
  .max(50)
  .transform((all) => [...new Set(all)]);
const time = z.number().int().min(0);

const claim = z.object({
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must contain only lowercase letters, digits and hyphens'),
  pagePath: z.string().min(1).max(2000),
  text,
  status: z.enum(ClaimStatus).default(ClaimStatus.ACTIVE),
  confidence: confidence.default(DEFAULT_CONFIDENCE),
  evidence: z.array(z.preprocess(toCamelCaseKeys, evidence)).max(200).default([]),
  tags: tags.default([]),
  createdAt: time,
  updatedAt: time,
  supersedes: z.string().optional(),
  supersededBy: z.string().optional(),
  reason: z.string().optional(),
  beside: z.array(z.string()).max(1000).optional(),
});

export const claimChanges = z.strictObject({ confidence: confidence.optional(), tags: tags.optional() });

/** Parses input in camelCase or snake_case. Throws INVALID_PARAMS that names the member. */
export function parseFields<T>(schema: z.ZodType<T>, input: unknown, subject: string): T {
  const read = schema.safeParse(toCamelCaseKeys(input));
  if (!read.success) throw new RpcError('INVALID_PARAMS', formatZodError(read.error, `field of ${subject.toLowerCase()}`, subject));
  return read.data;
}

/** Evidence for a claim. `lines`: `3` or `3-7` of the file at `sourcePath`; `weight`: 0 to 1; `excerpt`: the verbatim text. */
export class Evidence {
  readonly sourceId: string;
  readonly sourcePath?: string;
  readonly lines?: string;
  readonly weight: number;
  readonly excerpt?: string;

  /** Accepts camelCase and snake_case: `source_id` as well as `sourceId`. Throws INVALID_PARAMS that names the member. */
  constructor(input: EvidenceInput) {
    const { sourceId, sourcePath, lines, weight, excerpt } = parseFields(evidence, input, 'Evidence');
    this.sourceId = sourceId;
    this.weight = weight;
    if (sourcePath !== undefined) this.sourcePath = sourcePath;
    if (lines !== undefined) this.lines = lines;
    if (excerpt !== undefined) this.excerpt = excerpt;
  }
}

/** A statement on a wiki page, with its evidence. Times are in milliseconds since the Unix epoch. */
export class Claim {
  readonly id: string;
  readonly pagePath: string;
  readonly text: string;
  readonly status: ClaimStatus;
  /** 0 to 1. */
  readonly confidence: number;
  readonly evidence: readonly Evidence[];
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Id of the claim that this one replaces. */
  readonly supersedes?: string;
  readonly supersededBy?: string;
  /** Why it was superseded or refuted. */
  readonly reason?: string;
  /** Ids of claims that it seems to contradict, but which a user decided to keep as well. */
  readonly beside?: readonly string[];

  /** Accepts camelCase and snake_case. Throws INVALID_PARAMS that names the member. */
  constructor(input: z.input<typeof claim> | Record<string, unknown>) {
    const fields = parseFields(claim, input, 'A claim');
    this.id = fields.id;
    this.pagePath = fields.pagePath;
    this.text = fields.text;
    this.status = fields.status;
    this.confidence = fields.confidence;
    this.evidence = fields.evidence.map((each) => new Evidence(each));
    this.tags = fields.tags;
    this.createdAt = fields.createdAt;
    this.updatedAt = fields.updatedAt;
    if (fields.supersedes !== undefined) this.supersedes = fields.supersedes;
    if (fields.supersededBy !== undefined) this.supersededBy = fields.supersededBy;
    if (fields.reason !== undefined) this.reason = fields.reason;
    if (fields.beside !== undefined) this.beside = fields.beside;
  }
}
