import type { Ran } from '../capabilities/system/run-program.ts';

/** The program that the system runs. It contains no secrets, since other users may be able to read the service's definition. */
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

/** Runs a program to completion (see runProgram). */
export type Run = (program: string, args: readonly string[]) => Promise<Ran>;

/** A program and its arguments. */
export type Step = readonly [string, ...string[]];

/** A system's way to run a program for a user from login. */
export interface Service {
  /** Name of the service on this system. */
  name: string;
  /** Path of its definition. */
  path: string;
  text(served: Served): string;
  /** Reason why services are not available here; undefined if they are. */
  missing(run: Run): Promise<string | undefined>;
  /** Stops the service if it runs; may fail. */
  end: readonly Step[];
  /** Loads the new definition and starts the service. */
  start: readonly Step[];
  /** Stops and unregisters the service; may fail. */
  remove: readonly Step[];
  /** Runs after the definition is deleted; may fail. */
  forget: readonly Step[];
  /** Location of the log, for when the service does not run. */
  log(served: Pick<Served, 'home'>): string;
  /** Further advice for the user. */
  hints(run: Run): Promise<string[]>;
}
