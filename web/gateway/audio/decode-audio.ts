import { ADTS, AudioSampleSink, BufferSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from 'mediabunny';

const FORMATS = [WAVE, MP3, MP4, QTFF, OGG, WEBM, MATROSKA, FLAC, ADTS];

/** Maximum length of a recording, because its samples are all in memory. */
const MAX_HOURS = 2;

/** The audio cannot be decoded. Its message is for people. */
export class AudioError extends Error {
  override name = 'AudioError';
}

/** Decodes the first audio track of a file to mono samples between -1 and 1. Throws `AudioError`. */
export async function decodeAudio(file: Uint8Array<ArrayBuffer>, sampleRate: number, signal: AbortSignal): Promise<Float32Array> {
  using input = new Input({ source: new BufferSource(file), formats: FORMATS });
  try {
    if (!(await input.canRead())) throw new AudioError('the format is unknown. Use MP3, MP4, M4A, WAV, WebM, OGG, FLAC or AAC');
    const track = await input.getPrimaryAudioTrack();
    if (!track) throw new AudioError('the file has no audio');
    if (!(await track.canDecode())) throw new AudioError(`this browser can’t decode ${(await track.getCodec()) ?? 'its codec'}`);
    const resampler = new MonoResampler(sampleRate, MAX_HOURS * 3600);
    for await (const sample of new AudioSampleSink(track).samples()) {
      using audio = sample;
      signal.throwIfAborted();
      const channels = Array.from({ length: audio.numberOfChannels }, (_, planeIndex) => {
        const plane = new Float32Array(audio.numberOfFrames);
        audio.copyTo(plane, { planeIndex, format: 'f32-planar' });
        return plane;
      });
      resampler.add(channels, audio.sampleRate);
    }
    return resampler.finish();
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof AudioError) throw cause;
    throw new AudioError('the file is damaged', { cause });
  }
}

/** Mixes channels to one and changes the sample rate. Each output sample is the mean of its interval, which damps what a lower rate can't hold. */
class MonoResampler {
  readonly #rate: number;
  readonly #maxSamples: number;
  readonly #parts: Float32Array[] = [];
  #part: Float32Array;
  #filled = 0;
  #total = 0;
  #sum = 0;
  /** Share of the current output sample's interval that has been added. */
  #covered = 0;

  constructor(rate: number, maxSeconds: number) {
    this.#rate = rate;
    this.#maxSamples = maxSeconds * rate;
    this.#part = new Float32Array(30 * rate);
  }

  add(channels: readonly Float32Array[], sampleRate: number): void {
    /** Output samples for each input sample. */
    const step = this.#rate / sampleRate;
    const frames = channels[0]?.length ?? 0;
    for (let frame = 0; frame < frames; frame++) {
      let value = 0;
      for (const channel of channels) value += channel[frame] ?? 0;
      value /= channels.length;
      let rest = step;
      // A tolerance, so that rounding adds no sample.
      while (this.#covered + rest >= 1 - 1e-9) {
        const share = 1 - this.#covered;
        this.#push(this.#sum + value * share);
        rest = Math.max(0, rest - share);
        this.#sum = 0;
        this.#covered = 0;
      }
      this.#sum += value * rest;
      this.#covered += rest;
    }
  }

  finish(): Float32Array {
    const samples = new Float32Array(this.#total);
    let at = 0;
    for (const part of [...this.#parts, this.#part.subarray(0, this.#filled)]) {
      samples.set(part, at);
      at += part.length;
    }
    return samples;
  }

  #push(value: number): void {
    if (this.#total++ >= this.#maxSamples) throw new AudioError(`it is longer than ${MAX_HOURS} hours. Split it`);
    if (this.#filled === this.#part.length) {
      this.#parts.push(this.#part);
      this.#part = new Float32Array(this.#part.length);
      this.#filled = 0;
    }
    this.#part[this.#filled++] = value;
  }
}
