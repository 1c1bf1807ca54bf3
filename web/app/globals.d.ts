/** Path of the diagram renderer within the folder of the app; set by vite.config.ts. */
declare const __PERCH_MERMAID__: string;

/** A launch of the installed app: where to, and the files that were opened with it (`launch_handler` and `file_handlers` of the manifest). */
interface Launch {
  readonly targetURL?: string;
  readonly files?: readonly { getFile(): Promise<File> }[];
}

interface Window {
  launchQueue?: { setConsumer(consumer: (launch: Launch) => void): void };
}
