import { VOICE_ID } from '#shared/voice-id.ts';

/** OpenAI's voices as voices of the network that speak the text's own language. */
const VOICES = {
  alloy: 'en-US-AvaMultilingualNeural',
  ash: 'en-US-AndrewMultilingualNeural',
  ballad: 'en-GB-RyanNeural',
  cedar: 'en-US-AndrewMultilingualNeural',
  coral: 'en-US-EmmaMultilingualNeural',
  echo: 'en-US-BrianMultilingualNeural',
  fable: 'en-GB-RyanNeural',
  marin: 'en-US-AvaMultilingualNeural',
  nova: 'en-US-EmmaMultilingualNeural',
  onyx: 'en-US-BrianMultilingualNeural',
  sage: 'en-US-AvaMultilingualNeural',
  shimmer: 'en-US-EmmaMultilingualNeural',
  verse: 'en-US-AndrewMultilingualNeural',
} as const;

export const OPENAI_VOICES = Object.keys(VOICES);

/** The id of a voice by OpenAI's name or by its own id, as `tts.voices` lists it; undefined for a name that is neither. */
export function findVoice(name: string): string | undefined {
  if (Object.hasOwn(VOICES, name)) return VOICES[name as keyof typeof VOICES];
  return VOICE_ID.test(name) ? name : undefined;
}

/** A rate of the gateway's own voices for OpenAI's `speed`. */
export function toRate(speed: number): string {
  const percent = Math.round((speed - 1) * 100);
  return `${percent < 0 ? '' : '+'}${percent}%`;
}
