import createCore, { type TesseractApi, type TesseractCore } from 'tesseract.js-core/tesseract-core-simd-lstm.js';
import type { PDFPageProxy } from 'unpdf/pdfjs';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { OcrSettings } from '../ocr.ts';
import { loadLanguageData, type LanguageDataOptions } from './language-data.ts';

/** Tesseract's language codes for the app's languages. */
const LANGUAGE_BY_LOCALE: Readonly<Record<string, string>> = {
  ar: 'ara',
  de: 'deu',
  en: 'eng',
  es: 'spa',
  fr: 'fra',
  it: 'ita',
  ja: 'jpn',
  pl: 'pol',
  'pt-BR': 'por',
  ru: 'rus',
  'zh-CN': 'chi_sim',
};

/** Languages to recognize if the person has chosen none: the app's, and English. */
const getDefaultLanguages = (locale: string): string[] => [...new Set([LANGUAGE_BY_LOCALE[locale] ?? 'eng', 'eng'])];

/** Neural engine only: it has the smallest language data and the best results. */
const LSTM_ENGINE_MODE = 1;
/** Tesseract needs 300 dots per inch; a PDF unit is 1/72 inch. */
const RENDER_SCALE = 300 / 72;
/** Maximum number of pixels of a picture, whatever size the page declares. */
const MAX_PIXELS = 25_000_000;

/** Recognizes text in pictures of pages with Tesseract, in this worker. */
export class TesseractRecognizer {
  readonly #core: TesseractCore;
  readonly #options: LanguageDataOptions & { locale: string };
  #ready: { languages: string; api: TesseractApi } | undefined;

  private constructor(core: TesseractCore, options: LanguageDataOptions & { locale: string }) {
    this.#core = core;
    this.#options = options;
  }

  /** `wasm`: address of Tesseract's WebAssembly, at the app's own origin. */
  static async load(wasm: string, options: LanguageDataOptions & { locale: string }): Promise<TesseractRecognizer> {
    const response = await options.fetch(wasm);
    if (!response.ok) throw new RpcError('INTERNAL_ERROR', 'The part of Perch that reads scans couldn’t be loaded. Try again.');
    const ignore = (): void => {};
    return new TesseractRecognizer(
      await createCore({ wasmBinary: await response.arrayBuffer(), print: ignore, printErr: ignore }),
      options,
    );
  }

  read(page: PDFPageProxy, settings: OcrSettings, signal: AbortSignal): Promise<string> {
    return this.#recognize(() => renderPage(page), settings, signal);
  }

  readPicture(bytes: Uint8Array<ArrayBuffer>, settings: OcrSettings, signal: AbortSignal): Promise<string> {
    return this.#recognize(() => renderPicture(bytes), settings, signal);
  }

  async #recognize(render: () => Promise<Uint8Array<ArrayBuffer>>, settings: OcrSettings, signal: AbortSignal): Promise<string> {
    const api = await this.#initialize(settings, signal);
    const picture = await render();
    signal.throwIfAborted();
    this.#core.FS.writeFile('/input', picture);
    if (api.SetImageFile(1, 0) === 1) return '';
    api.Recognize(null);
    return api
      .GetUTF8Text()
      .replaceAll(/[^\S\n]+$/gm, '')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
  }

  async #initialize(
    { languages = getDefaultLanguages(this.#options.locale), dataUrl }: OcrSettings,
    signal: AbortSignal,
  ): Promise<TesseractApi> {
    const languageCodes = languages.join('+');
    if (this.#ready?.languages === languageCodes) return this.#ready.api;
    for (const language of languages)
      this.#core.FS.writeFile(`./${language}.traineddata`, await loadLanguageData(dataUrl, language, this.#options, signal));
    this.#ready?.api.End();
    this.#ready = undefined;
    const api = new this.#core.TessBaseAPI();
    if (api.Init(null, languageCodes, LSTM_ENGINE_MODE) === -1)
      throw new RpcError(
        'INVALID_PARAMS',
        `Language data for reading scans (${languageCodes}) can’t be used: it is damaged or of another kind.`,
      );
    this.#ready = { languages: languageCodes, api };
    return api;
  }
}

/** Smaller pictures, such as screenshots, are enlarged up to this width: Tesseract misreads small letters. */
const MIN_PICTURE_WIDTH = 1600;
const MAX_ENLARGEMENT = 3;

/** A picture file as PNG, upright, on white. */
async function renderPicture(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const picture = await createImageBitmap(new Blob([bytes])).catch(() => {
    throw new RpcError('INVALID_PARAMS', 'This browser can’t show the picture: it is damaged or of another type.');
  });
  const { width, height } = picture;
  const enlargement = Math.min(MAX_ENLARGEMENT, Math.max(1, MIN_PICTURE_WIDTH / width));
  const scale = Math.min(enlargement, Math.sqrt(MAX_PIXELS / (width * height)));
  const canvas = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale));
  const context = createContext(canvas);
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return toPng(canvas);
}

function createContext(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) throw new RpcError('INTERNAL_ERROR', 'This browser can’t draw the page.');
  return context;
}

const toPng = async (canvas: OffscreenCanvas): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());

/** A page as PNG, upright, in black on white. */
async function renderPage(page: PDFPageProxy): Promise<Uint8Array<ArrayBuffer>> {
  const size = page.getViewport({ scale: 1 });
  const scale = Math.min(RENDER_SCALE, Math.sqrt(MAX_PIXELS / (size.width * size.height)));
  const viewport = page.getViewport({ scale });
  const canvas = new OffscreenCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height));
  // pdf.js draws on either kind of canvas; its types know only that of pages.
  const canvasContext = createContext(canvas) as unknown as Parameters<PDFPageProxy['render']>[0]['canvasContext'];
  await page.render({ canvas: null, canvasContext, viewport, background: 'white' }).promise;
  return toPng(canvas);
}
