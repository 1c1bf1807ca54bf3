import { call } from '../rpc/contract.ts';
import { speech, spoken, voiceEntry } from '../rpc/methods/tts.ts';
import { z } from '../rpc/zod.ts';
import { port } from './port.ts';

export const speechPort = port({
  kind: 'speech',
  what: 'Speech',
  calls: {
    'speech.speak': call({ params: z.object(speech), result: spoken, docs: 'Converts a text to speech.', policy: { scope: 'write' } }),
    'speech.voices': call({
      params: z.object({}),
      result: z.object({ voices: z.array(voiceEntry) }),
      docs: 'Lists the available voices.',
      policy: { scope: 'read' },
    }),
  },
  events: {},
});
