import { defineMethod } from '../rpc/contract.ts';
import { speechFields, speechAudio, voiceEntry } from '../rpc/methods/tts-contracts.ts';
import { z } from '../rpc/zod.ts';
import { definePort } from './port.ts';

/** `format`: MP3 by default. Only the system's engine makes WAV. */
const params = z.object({ ...speechFields, format: z.enum(['mp3', 'wav']).optional() });
const result = speechAudio.extend({ mimeType: z.enum(['audio/mpeg', 'audio/wav']) });
export type SpeechParams = z.input<typeof params>;
export type SpeechResult = z.output<typeof result>;

export const speechPort = definePort({
  kind: 'speech',
  featureName: 'Speech',
  calls: {
    'speech.speak': defineMethod({ params, result, docs: 'Converts a text to speech.', policy: { scope: 'write' } }),
    'speech.voices': defineMethod({
      params: z.object({}),
      result: z.object({ voices: z.array(voiceEntry) }),
      docs: 'Lists the available voices.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
