import { SYSTEM_VOICE_ID_PATTERN, VOICE_ID_PATTERN } from '#shared/voice-id.ts';

/** Maps OpenAI's voices to online voices that speak any language. */
const OPENAI_VOICE_IDS = {
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

export const OPENAI_VOICES = Object.keys(OPENAI_VOICE_IDS);

/** The id of a voice by OpenAI's name or by its own id, as `tts.voices` lists it; undefined for other names. */
export function findVoice(name: string): string | undefined {
  if (Object.hasOwn(OPENAI_VOICE_IDS, name)) return OPENAI_VOICE_IDS[name as keyof typeof OPENAI_VOICE_IDS];
  return VOICE_ID_PATTERN.test(name) || SYSTEM_VOICE_ID_PATTERN.test(name) ? name : undefined;
}

/** Converts OpenAI's `speed` to a rate of the built-in voices. */
export function toSpeechRate(speed: number): string {
  const percent = Math.round((speed - 1) * 100);
  return `${percent < 0 ? '' : '+'}${percent}%`;
}
