import { z } from './zod.ts';

/** Position of a passage in its document. `start` and `end` are UTF-16 offsets in the document's text. */
export const passageLocator = z.object({
  /** Page of a PDF, slide of a presentation: from 1. */
  page: z.number().int().positive().optional(),
  /** Name of a sheet. */
  sheet: z.string().optional(),
  /** Headings above the passage, outermost first. */
  headings: z.array(z.string()).optional(),
  /** First line of the passage in a text file: from 1. */
  line: z.number().int().positive().optional(),
  /** Seconds from the start of a recording, from its subtitles. */
  time: z.number().nonnegative().optional(),
  start: z.number().int().nonnegative(),
  end: z.number().int().nonnegative(),
});
export type PassageLocator = z.infer<typeof passageLocator>;

/** A text that an answer can cite: a passage of a collection's document, or of a web page. */
export const citableSource = z.object({
  /** Passage of a collection: `<document id>#<number>`; web page: its address. */
  id: z.string(),
  kind: z.enum(['passage', 'web']),
  title: z.string(),
  text: z.string(),
  /** Address of the web page, or of the document if it has one. */
  url: z.string().optional(),
  collectionId: z.string().optional(),
  documentId: z.string().optional(),
  /** Path of the document in its collection. */
  path: z.string().optional(),
  locator: passageLocator.optional(),
});
export type CitableSource = z.infer<typeof citableSource>;

/** A source with its number in the chat. */
export const citedSource = citableSource.extend({ number: z.number().int().positive() });
export type CitedSource = z.infer<typeof citedSource>;

/** A claim of a reply, and the source that supports it. Offsets are in UTF-16 code units. */
export const citation = z.object({
  /** Start and end of the claim in the text of the reply. */
  start: z.number().int().nonnegative(),
  end: z.number().int().nonnegative(),
  /** Number of the source. */
  number: z.number().int().positive(),
  /** The part of the source that supports the claim, with its offsets in the source's `text`. */
  quote: z.object({ text: z.string(), start: z.number().int().nonnegative(), end: z.number().int().nonnegative() }),
});
export type Citation = z.infer<typeof citation>;
