import { DEFAULT_VOICE, SYSTEM_VOICE_ID, VOICE_ID } from '../../voice-id.ts';
import { call } from '../contract.ts';
import { z } from '../zod.ts';

const voiceId = z
  .string()
  .max(200)
  .refine((id) => VOICE_ID.test(id) || SYSTEM_VOICE_ID.test(id), `must be a voice id of tts.voices, such as ${DEFAULT_VOICE}`);

export const voiceEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** A language tag such as `en-US`. */
  language: z.string(),
  gender: z.string(),
});
export type Voice = z.infer<typeof voiceEntry>;

/** Maximum number of characters in one call. */
export const MAX_SPOKEN = 20_000;

export const speech = {
  text: z.string().trim().min(1).max(MAX_SPOKEN),
  voice: voiceId.optional(),
  rate: z
    .string()
    .regex(/^[+-]\d{1,3}%$/, 'must be a signed percentage such as +10%')
    .optional(),
  pitch: z
    .string()
    .regex(/^[+-]\d{1,3}Hz$/, 'must be signed hertz such as -5Hz')
    .optional(),
};

export const spoken = z.object({
  /** A base64-encoded MP3. */
  audio: z.string(),
  mimeType: z.literal('audio/mpeg'),
  sizeBytes: z.number().int().positive(),
  /** The voice that was used: an online voice, or `system:<engine>:<voice>`. */
  voice: z.string(),
});

/** Text to speech. */
export const tts = {
  'tts.speak': call({
    params: z.strictObject(speech),
    result: spoken,
    docs: `Converts text to speech and returns a base64-encoded MP3. The default voice is ${DEFAULT_VOICE}; \`voice\` takes every id of \`tts.voices\`. If the online voices are unavailable, the system's speech engine is used; \`voice\` names the voice that was used.`,
    policy: { scope: 'write' },
  }),
  'tts.voices': call({
    params: z.strictObject({}),
    result: z.object({ voices: z.array(voiceEntry), count: z.number().int() }),
    docs: 'Lists the voices: online voices if they can be reached, and those of the system’s speech engine.',
    policy: { scope: 'read' },
  }),
};
