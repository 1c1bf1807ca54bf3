import { DEFAULT_VOICE, SYSTEM_VOICE_ID_PATTERN, VOICE_ID_PATTERN } from '../../voice-id.ts';
import { defineMethod } from '../contract.ts';
import { z } from '../zod.ts';

const voiceId = z
  .string()
  .max(200)
  .refine(
    (id) => VOICE_ID_PATTERN.test(id) || SYSTEM_VOICE_ID_PATTERN.test(id),
    `must be a voice id of tts.voices, such as ${DEFAULT_VOICE}`,
  );

export const voiceEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** A language tag such as `en-US`. */
  language: z.string(),
  gender: z.string(),
});
export type Voice = z.infer<typeof voiceEntry>;

/** Maximum number of characters in one call. */
export const MAX_SPEECH_CHARS = 20_000;

export const speechFields = {
  text: z.string().trim().min(1).max(MAX_SPEECH_CHARS),
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

export const speechAudio = z.object({
  /** A base64-encoded MP3. */
  audio: z.string(),
  mimeType: z.literal('audio/mpeg'),
  sizeBytes: z.number().int().positive(),
  /** The voice that was used: an online voice, or `system:<engine>:<voice>`. */
  voice: z.string(),
});

/** Text to speech. */
export const ttsContracts = {
  'tts.speak': defineMethod({
    params: z.strictObject(speechFields),
    result: speechAudio,
    docs: `Converts text to speech and returns a base64-encoded MP3. The default voice is ${DEFAULT_VOICE}; \`voice\` takes every id of \`tts.voices\`. If the online voices are unavailable, the system's speech engine is used; \`voice\` names the voice that was used.`,
    policy: { scope: 'write' },
  }),
  'tts.voices': defineMethod({
    params: z.strictObject({}),
    result: z.object({ voices: z.array(voiceEntry), count: z.number().int() }),
    docs: 'Lists the voices: online voices if they can be reached, and those of the system’s speech engine.',
    policy: { scope: 'read' },
  }),
};
