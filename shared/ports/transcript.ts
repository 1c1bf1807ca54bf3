import { z } from '../rpc/zod.ts';

export const transcriptRequest = z.object({
  /** The audio file in base64. */
  audio: z.string(),
  /** ISO 639-1 code or English name; detected if undefined. */
  language: z.string().optional(),
  /** Translates to English. */
  translate: z.boolean(),
});
export type TranscriptRequest = z.infer<typeof transcriptRequest>;

const transcriptSegment = z.object({
  /** Seconds. */
  start: z.number(),
  end: z.number(),
  text: z.string(),
});
export type TranscriptSegment = z.infer<typeof transcriptSegment>;

export const transcript = z.object({
  text: z.string(),
  /** ISO 639-1 code; null if the model only knows one language. */
  language: z.string().nullable(),
  /** Length of the audio in seconds. */
  duration: z.number(),
  segments: z.array(transcriptSegment),
});
/** Text of a recording. */
export type Transcript = z.infer<typeof transcript>;
