import { createObjectStore } from "../../objects/create-object-store.ts";
import { encryptedDriver } from "../../objects/encryption/encrypted-driver.ts";
import type { ObjectKeys } from "../../objects/encryption/object-keys.ts";
import type { ObjectStore } from "../../ports/object-store.ts";
import { S3ObjectDriver } from "./driver.ts";

export interface S3ObjectsOptions {
  readonly bucket: string;
  /** A folder in the bucket, such as `pinakes/`. */
  readonly prefix?: string | undefined;
  readonly region?: string | undefined;
  /** For S3-compatible stores other than Amazon's. */
  readonly endpoint?: string | undefined;
  /** The bucket in the path instead of the host name; most stores other than Amazon's require it. */
  readonly pathStyle?: boolean | undefined;
  /** Default: from the environment, the profile or the machine's role. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Whether `If-None-Match: *` works. Amazon supports it; some others ignore it, which would break the promise of `ifAbsent`. */
  readonly conditionalPut?: boolean | undefined;
  readonly attemptsMax?: number | undefined;
  /** How long a connection may be silent before it counts as lost: 60 s. A transfer may take any time while bytes arrive. */
  readonly idleMsMax?: number | undefined;
  /** Encrypts stored objects (RFC 0019). */
  readonly keys?: ObjectKeys | undefined;
}

const attemptsMaxDefault = 5;
const connectMsMax = 10_000;
const idleMsMaxDefault = 60_000;

/** Objects in a bucket, which must exist. */
export async function openS3Objects(options: S3ObjectsOptions): Promise<ObjectStore> {
  const driver = await connectS3Driver(options);
  return createObjectStore(options.keys === undefined ? driver : encryptedDriver(driver, options.keys));
}

export async function connectS3Driver(options: S3ObjectsOptions): Promise<S3ObjectDriver> {
  const {
    bucket,
    prefix = "",
    region,
    endpoint,
    pathStyle = false,
    credentials,
    attemptsMax = attemptsMaxDefault,
    idleMsMax = idleMsMaxDefault,
  } = options;
  const s3 = await import("@aws-sdk/client-s3");
  const client = new s3.S3Client({
    forcePathStyle: pathStyle,
    maxAttempts: attemptsMax,
    requestHandler: { connectionTimeout: connectMsMax, socketTimeout: idleMsMax },
    // Newer checksums only where S3 requires them: other stores do not support them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  });
  const folder = prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`;
  return new S3ObjectDriver(s3, client, { bucket, prefix: folder }, options.conditionalPut ?? endpoint === undefined);
}
