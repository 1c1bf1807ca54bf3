import { DEFAULT_VOICE, VOICE_ID } from '../../voice-id.ts';
import { call } from '../contract.ts';
import { z } from '../zod.ts';

const voiceId = z.string().max(100).regex(VOICE_ID, `must be a voice id such as ${DEFAULT_VOICE}`);

export const voiceEntry = z.object({
  id: z.string(),
  name: z.string(),
  /** `en-US`. */
  language: z.string(),
  gender: z.string(),
});
export type Voice = z.infer<typeof voiceEntry>;

/** Characters that are spoken at once. */
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
  /** MP3, base64. */
  audio: z.string(),
  mimeType: z.literal('audio/mpeg'),
  sizeBytes: z.number().int().positive(),
  /** Who spoke: a voice of the network, or `system:<engine>:<voice>`. */
  voice: z.string(),
});

/** Text to speech (interface document 1, section 4.1, "Speech rules"; decisions, "Devices, logs, system, usage, speech"). */
export const tts = {
  'tts.speak': call({
    params: z.strictObject(speech),
    result: spoken,
    docs: `Speaks a text: MP3 in base64. Without \`voice\` it is ${DEFAULT_VOICE}; where the network's voices cannot be had, the system's speech engine speaks, and \`voice\` says so.`,
    policy: { scope: 'write' },
  }),
  'tts.voices': call({
    params: z.strictObject({}),
    result: z.object({ voices: z.array(voiceEntry), count: z.number().int() }),
    docs: 'Lists voices: those of the network where it can be reached, and those of the system’s speech engine.',
    policy: { scope: 'read' },
  }),
};
