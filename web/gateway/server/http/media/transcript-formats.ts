import type { Transcript, TranscriptSegment } from '#shared/ports/transcript.ts';

/** Formats of `response_format` that a transcript with segments has. */
export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** The response's body and content type, as OpenAI sends them. */
export function formatTranscript(transcript: Transcript, format: TranscriptFormat): { body: string; type: string } {
  if (format === 'json' || format === 'verbose_json')
    return { body: JSON.stringify(format === 'json' ? toJson(transcript) : toVerboseJson(transcript)), type: 'application/json' };
  const body = format === 'text' ? `${transcript.text}\n` : formatSubtitles(transcript.segments, format);
  return { body, type: format === 'vtt' ? 'text/vtt; charset=utf-8' : 'text/plain; charset=utf-8' };
}

/** The object of `response_format: "json"`, and without its text the end of a stream. */
export const toJson = ({ text, duration }: Transcript) => ({ text, usage: { type: 'duration', seconds: Math.ceil(duration) } });

function toVerboseJson(transcript: Transcript) {
  const { text, language, duration, segments } = transcript;
  return {
    ...{ task: 'transcribe', language: language === null ? 'english' : getLanguageName(language), duration, text },
    segments: segments.map((segment, id) => ({ id, ...segment })),
    usage: toJson(transcript).usage,
  };
}

/** English name of a language, in lower case. */
const getLanguageName = (code: string): string => (new Intl.DisplayNames('en', { type: 'language' }).of(code) ?? code).toLowerCase();

function formatSubtitles(segments: readonly TranscriptSegment[], format: 'srt' | 'vtt'): string {
  const mark = format === 'srt' ? ',' : '.';
  const cues = segments.map(
    ({ start, end, text }, index) =>
      `${format === 'srt' ? `${index + 1}\n` : ''}${formatTime(start, mark)} --> ${formatTime(end, mark)}\n${text.replaceAll('-->', '->')}\n`,
  );
  return [...(format === 'vtt' ? ['WEBVTT\n'] : []), ...cues].join('\n');
}

/** `00:00:01,500` */
function formatTime(seconds: number, mark: ',' | '.'): string {
  const total = Math.round(seconds * 1000);
  const pad = (value: number, length = 2): string => String(value).padStart(length, '0');
  return `${pad(Math.floor(total / 3_600_000))}:${pad(Math.floor(total / 60_000) % 60)}:${pad(Math.floor(total / 1000) % 60)}${mark}${pad(total % 1000, 3)}`;
}
