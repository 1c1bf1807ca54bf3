/** Id of the build, which changes exactly when the sources do; set by vite.config.ts. */
declare const __PERCH_BUILD__: string;
/** Whether this is a demo-only build (`npm run build:demo`); set by vite.config.ts. */
declare const __PERCH_DEMO__: boolean;

declare namespace App {
  /** State of a history entry. */
  interface PageState {
    /** The chat opens its newest artifact beside it, if there is room. */
    opensArtifact?: boolean;
  }
}

declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
