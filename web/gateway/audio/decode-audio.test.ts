import { expect, it } from 'vitest';
import { writeWav } from '#shared/wav.ts';
import { decodeAudio } from './decode-audio.ts';

const { signal } = new AbortController();

/** A WAV file of a sine wave; the right channel is silent. */
function createTone(seconds: number, hertz: number, { channels = 1, sampleRate = 44_100 }: { channels?: 1 | 2; sampleRate?: number } = {}) {
  const data = new Int16Array(Math.round(seconds * sampleRate) * channels);
  for (let frame = 0; frame * channels < data.length; frame++)
    data[frame * channels] = 16_384 * Math.sin((2 * Math.PI * hertz * frame) / sampleRate);
  return writeWav({ channels, sampleRate, data: new Uint8Array(data.buffer) });
}

const getPeak = (samples: Float32Array): number => samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);

it.each([
  ['a higher rate', {}, 0.5],
  ['a lower rate', { sampleRate: 8000 }, 0.5],
  ['the same rate', { sampleRate: 16_000 }, 0.5],
  ['two channels', { channels: 2 as const }, 0.25],
])('converts %s to mono at the wanted rate', async (_name, options, peak) => {
  const samples = await decodeAudio(createTone(2, 440, options), 16_000, signal);
  expect(samples.length).toBe(32_000);
  expect(getPeak(samples)).toBeCloseTo(peak, 1);
  // 440 Hz cross zero 880 times a second.
  let crossings = 0;
  for (let at = 1; at < 16_000; at++) if ((samples[at] ?? 0) < 0 !== (samples[at - 1] ?? 0) < 0) crossings++;
  expect(Math.abs(crossings - 880)).toBeLessThan(4);
});

it('damps tones that the lower rate cannot hold', async () => {
  expect(getPeak(await decodeAudio(createTone(1, 15_900, { sampleRate: 48_000 }), 16_000, signal))).toBeLessThan(0.05);
});

it.each([
  ['text', new TextEncoder().encode('not audio at all, but long enough to look for a format in it'), /the format is unknown/],
  ['nothing', new Uint8Array(), /the format is unknown/],
  ['a WAV file without samples', createTone(0, 1).slice(0, 30), /the file/],
])('names what is wrong with %s', async (_name, file, message) => {
  await expect(decodeAudio(file, 16_000, signal)).rejects.toThrow(message);
});

it('stops when it is aborted', async () => {
  await expect(decodeAudio(createTone(5, 440), 16_000, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
});
