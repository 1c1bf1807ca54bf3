import { toText } from '../plain-text.ts';
import type { DecodedPassageRequest, DocumentFacts, PassageContext } from './passage-context.ts';

/** Time of a cue in SubRip (`00:01:02,500`) and WebVTT (`01:02.500`). */
const TIMING = /^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s+-->/;

interface Cue {
  time: number;
  text: string;
}

/** Subtitles: the text of neighbouring cues, with the time of the first one. */
export async function readSubtitlePassages(request: DecodedPassageRequest, { builder, slicer }: PassageContext): Promise<DocumentFacts> {
  for (const { time, text } of readCues(toText(request))) {
    if (!builder.add({ text, place: { time }, gap: '\n', form: 'lines' })) break;
    await slicer.after(text.length);
  }
  return {};
}

function* readCues(text: string): Generator<Cue> {
  let time: number | undefined;
  let lines: string[] = [];
  let last = '';
  for (const line of [...text.split('\n'), '']) {
    const timing = TIMING.exec(line);
    if (timing) {
      // A cue without an empty line after it ends with a number, if it is SubRip.
      time = toSeconds(timing);
      lines = [];
    } else if (time !== undefined && line.trim() !== '') lines.push(toPlainLine(line));
    else if (time !== undefined) {
      // Rolling captions show a line twice.
      const shown = lines.filter((each) => each !== '' && each !== last);
      last = lines.at(-1) ?? last;
      if (shown.length > 0) yield { time, text: shown.join('\n') };
      time = undefined;
    }
  }
}

function toSeconds([, hours = '0', minutes = '0', seconds = '0', fraction = '0']: readonly string[]): number {
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`);
}

/** Without tags; a WebVTT voice becomes the speaker's name. */
const toPlainLine = (line: string): string =>
  line
    .replaceAll(/<v(?:\.[^\s<>]*)?\s([^<>]*)>/g, '$1: ')
    .replaceAll(/<[^<>]*>|\{\\[^{}]*\}/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&')
    .trim();
