// A value that begins like an image, shown by the browser's own decoder from a blob.
//
// It is never a document: only pixel formats (image.ts) are shown, and only in an <img>.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { showSize } from '../parts/bytes.ts';
import { imageType } from './image.ts';
import { IMAGE_MAX_BYTES, isWhole, readWhole } from './ranges.ts';
import { Problem, useAction } from './use-action.tsx';

export function ImageView(props: { keyBytes: Uint8Array; start: Uint8Array }): VNode {
  const [address, setAddress] = useState<string | undefined>(undefined);
  const [size, setSize] = useState('');
  const [broken, setBroken] = useState(false);
  const reading = useAction();
  useEffect(() => {
    let made: string | undefined;
    let here = true;
    void reading.run(async () => {
      const part = await readWhole(await connection.client(), props.keyBytes);
      if (!isWhole(part)) throw new Error(`Images over ${showSize(IMAGE_MAX_BYTES)} are not shown.`);
      const type = imageType(part.bytes);
      if (!here || type === undefined) return;
      made = URL.createObjectURL(new Blob([part.bytes.slice()], { type }));
      setAddress(made);
    });
    return () => {
      here = false;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [props.start]);
  return (
    <figure class="keys-image">
      <Problem text={reading.problem} />
      {broken ? (
        <p class="keys-problem" role="alert">
          The browser cannot decode this image; Hex shows its bytes.
        </p>
      ) : null}
      {address === undefined || broken ? null : (
        <img
          src={address}
          alt="The value as an image"
          onError={() => setBroken(true)}
          onLoad={(event) =>
            setSize(`${event.currentTarget.naturalWidth} × ${event.currentTarget.naturalHeight} pixels`)
          }
        />
      )}
      <figcaption class="keys-faint">
        {imageType(props.start)}
        {size === '' ? '' : `, ${size}`}
      </figcaption>
    </figure>
  );
}
