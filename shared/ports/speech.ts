import { call } from '../rpc/contract.ts';
import { speech, spoken, voiceEntry } from '../rpc/methods/tts.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

/** `format`: MP3 by default. Only the system's engine makes WAV. */
const params = z.object({ ...speech, format: z.enum(['mp3', 'wav']).optional() });
const result = spoken.extend({ mimeType: z.enum(['audio/mpeg', 'audio/wav']) });
export type SpeechParams = z.input<typeof params>;
export type SpeechResult = z.output<typeof result>;

export const speechPort = port({
  kind: 'speech',
  what: 'Speech',
  calls: {
    'speech.speak': call({ params, result, docs: 'Converts a text to speech.', policy: { scope: 'write' } }),
    'speech.voices': call({
      params: z.object({}),
      result: z.object({ voices: z.array(voiceEntry) }),
      docs: 'Lists the available voices.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
