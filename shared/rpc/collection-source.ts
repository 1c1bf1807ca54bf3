import { id } from './frames.ts';
import { z } from './zod.ts';

const globs = z.array(z.string().min(1).max(300)).max(50);
/** A path on the bridge's disk, or an address of a repository. */
export const diskPath = z.string().trim().min(1).max(1000);

const folderSource = z.strictObject({
  kind: z.literal('folder'),
  /** Path on the bridge's disk. */
  path: diskPath,
  /** Patterns of paths in it; all files by default. `*` matches within a name, `**` across folders. */
  include: globs.optional(),
  exclude: globs.optional(),
});
const repositorySource = z.strictObject({
  kind: z.literal('repository'),
  /** HTTPS or SSH address that the bridge clones, or a path on its disk. */
  url: diskPath,
  /** Branch or tag; the default branch if omitted. */
  branch: z.string().min(1).max(200).optional(),
  include: globs.optional(),
  exclude: globs.optional(),
});
const webSource = z.strictObject({
  kind: z.literal('web'),
  urls: z
    .array(z.url({ protocol: /^https?$/ }).max(2000))
    .min(1)
    .max(100),
  /** How many links to follow from these pages on the same site. */
  depth: z.number().int().min(0).max(5).default(0),
  maxPages: z.number().int().min(1).max(1000).default(100),
});
const mailSource = z.strictObject({
  kind: z.literal('mail'),
  /** An mbox file or a Maildir on the bridge's disk. */
  path: diskPath,
});

const sourceId = z.object({ id: id.optional() });
export const collectionSourceInput = z.discriminatedUnion('kind', [
  folderSource.extend(sourceId.shape),
  repositorySource.extend(sourceId.shape),
  webSource.extend(sourceId.shape),
  mailSource.extend(sourceId.shape),
]);
/** A source as a client describes it. With `id` it replaces the source that has it. */
export type CollectionSourceInput = z.input<typeof collectionSourceInput>;

const sourceState = z.object({
  id: z.string(),
  /** When its documents were last listed; null if never. */
  checkedAt: z.number().nullable(),
  /** Why its documents could not be listed, in one sentence; null if they could. */
  problem: z.string().nullable(),
});
export const collectionSource = z.discriminatedUnion('kind', [
  folderSource.extend(sourceState.shape),
  repositorySource.extend(sourceState.shape),
  webSource.extend(sourceState.shape),
  mailSource.extend(sourceState.shape),
]);
export type CollectionSource = z.infer<typeof collectionSource>;
