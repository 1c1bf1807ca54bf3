import { defineMethod } from '../rpc/contract.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** Formats that browsers encode: Opus in Ogg, AAC in ADTS, FLAC. */
export const encodedFormat = z.enum(['opus', 'aac', 'flac']);
export type EncodedFormat = z.infer<typeof encodedFormat>;

/** Calls of the gateway's worker to a page's worker that converts audio. */
export const audioPort = definePort({
  kind: 'audio',
  featureName: 'Converting audio',
  calls: {
    'audio.convert': defineMethod({
      /** `audio`: a file in base64. */
      params: z.object({ audio: z.string(), format: encodedFormat }),
      result: z.object({ audio: z.string() }),
      docs: 'Converts an audio file. `INVALID_PARAMS` with `details.field` if the browser can’t encode the format.',
      policy: { scope: 'write' },
    }),
  },
  events: {},
});
