/** The parts of Tesseract, compiled to WebAssembly, that are used here. */
declare module 'tesseract.js-core/tesseract-core-simd-lstm.js' {
  export interface TesseractApi {
    /** −1 if it fails. */
    Init(path: null, languages: string, engine: number): number;
    /** Reads `/input`; 1 if it fails. */
    SetImageFile(orientation: number, angle: number): number;
    Recognize(monitor: null): number;
    GetUTF8Text(): string;
    End(): void;
  }
  export interface TesseractCore {
    FS: { writeFile(path: string, data: Uint8Array): void };
    TessBaseAPI: new () => TesseractApi;
  }
  export default function createCore(options: {
    wasmBinary: ArrayBuffer;
    print(text: string): void;
    printErr(text: string): void;
  }): Promise<TesseractCore>;
}
