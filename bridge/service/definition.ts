import type { Ran } from '../capabilities/system/run-program.ts';

/** What the system is to run: no secret is in it, for its definition can be read by whoever may look at the user's services. */
export interface Served {
  /** Program and arguments. */
  command: readonly [string, ...string[]];
  environment: Readonly<Record<string, string>>;
  /** Perch's home directory. */
  home: string;
  port: number;
}

export interface Machine {
  platform: NodeJS.Platform;
  /** The user's home directory, and numeric id. */
  home: string;
  uid: number;
  env: NodeJS.ProcessEnv;
}

/** Runs a program to its end; see runProgram. */
export type Run = (program: string, args: readonly string[]) => Promise<Ran>;

/** A program and its arguments. */
export type Step = readonly [string, ...string[]];

/** A way in which a system runs something for a user from log-in on. */
export interface Service {
  /** What the service is called there. */
  name: string;
  /** Where its definition stands. */
  path: string;
  text(served: Served): string;
  /** Why there can be none here; undefined where there can. */
  missing(run: Run): Promise<string | undefined>;
  /** Ends it where it runs; may fail. */
  end: readonly Step[];
  /** Makes the system take the definition that was written, and start it. */
  start: readonly Step[];
  /** Ends it, and takes it from the system; may fail. */
  remove: readonly Step[];
  /** After the definition is gone; may fail. */
  forget: readonly Step[];
  /** Where it says why it does not run. */
  log(served: Pick<Served, 'home'>): string;
  /** What else a person should know. */
  hints(run: Run): Promise<string[]>;
}
