import type { ProgramOutput } from '../capabilities/system/run-program.ts';

/** The program that the system runs. It contains no secrets, since other users may be able to read the service's definition. */
export interface ServiceProgram {
  /** Program and arguments. */
  command: readonly [string, ...string[]];
  environment: Readonly<Record<string, string>>;
  /** Perch's home directory. */
  home: string;
  port: number;
}

export interface ServiceMachine {
  platform: NodeJS.Platform;
  /** The user's home directory, and numeric id. */
  home: string;
  uid: number;
  env: NodeJS.ProcessEnv;
}

/** Runs a program to completion (see runProgram). */
export type RunProgram = (program: string, args: readonly string[]) => Promise<ProgramOutput>;

/** A program and its arguments. */
export type ProgramStep = readonly [string, ...string[]];

/** A system's way to run a program for a user from login. */
export interface ServiceManager {
  /** Name of the service on this system. */
  name: string;
  /** Path of its definition. */
  path: string;
  text(served: ServiceProgram): string;
  /** Reason why services are not available here; undefined if they are. */
  missing(run: RunProgram): Promise<string | undefined>;
  /** Stops the service if it runs; may fail. */
  end: readonly ProgramStep[];
  /** Loads the new definition and starts the service. */
  start: readonly ProgramStep[];
  /** Stops and unregisters the service; may fail. */
  remove: readonly ProgramStep[];
  /** Runs after the definition is deleted; may fail. */
  forget: readonly ProgramStep[];
  /** Location of the log, for when the service does not run. */
  log(served: Pick<ServiceProgram, 'home'>): string;
  /** Further advice for the user. */
  hints(run: RunProgram): Promise<string[]>;
}
