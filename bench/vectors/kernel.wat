;; The two loops of the bench that must be as quick as the machine allows.
(module
  (import "env" "memory" (memory 1))

  ;; Dot products of all queries with all rows: out[q * rowCount + r], f32. queryCount is a multiple of 4, bytes (of a vector) of 16.
  (func (export "dots") (param $queries i32) (param $rows i32) (param $out i32) (param $bytes i32) (param $queryCount i32) (param $rowCount i32)
    (local $q i32) (local $r i32) (local $row i32) (local $end i32) (local $q0 i32) (local $step i32) (local $x v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local.set $step (i32.shl (local.get $rowCount) (i32.const 2)))
    (loop $nextQueries
      (local.set $r (i32.const 0))
      (local.set $row (local.get $rows))
      (loop $nextRow
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (local.set $c (v128.const i32x4 0 0 0 0))
        (local.set $d (v128.const i32x4 0 0 0 0))
        (local.set $q0 (local.get $queries))
        (local.set $end (i32.add (local.get $row) (local.get $bytes)))
        (loop $next
          (local.set $x (v128.load (local.get $row)))
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul (local.get $x) (v128.load (local.get $q0)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul (local.get $x) (v128.load (i32.add (local.get $q0) (local.get $bytes))))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul (local.get $x) (v128.load (i32.add (local.get $q0) (i32.shl (local.get $bytes) (i32.const 1)))))))
          (local.set $d (f32x4.add (local.get $d) (f32x4.mul (local.get $x) (v128.load (i32.add (local.get $q0) (i32.mul (local.get $bytes) (i32.const 3)))))))
          (local.set $q0 (i32.add (local.get $q0) (i32.const 16)))
          (local.set $row (i32.add (local.get $row) (i32.const 16)))
          (br_if $next (i32.lt_u (local.get $row) (local.get $end))))
        (local.set $q0 (i32.add (local.get $out) (i32.shl (local.get $r) (i32.const 2))))
        (f32.store (local.get $q0) (call $horizontal (local.get $a)))
        (f32.store (i32.add (local.get $q0) (local.get $step)) (call $horizontal (local.get $b)))
        (f32.store (i32.add (local.get $q0) (i32.shl (local.get $step) (i32.const 1))) (call $horizontal (local.get $c)))
        (f32.store (i32.add (local.get $q0) (i32.mul (local.get $step) (i32.const 3))) (call $horizontal (local.get $d)))
        (local.set $r (i32.add (local.get $r) (i32.const 1)))
        (br_if $nextRow (i32.lt_u (local.get $r) (local.get $rowCount))))
      (local.set $out (i32.add (local.get $out) (i32.shl (local.get $step) (i32.const 2))))
      (local.set $queries (i32.add (local.get $queries) (i32.shl (local.get $bytes) (i32.const 2))))
      (local.set $q (i32.add (local.get $q) (i32.const 4)))
      (br_if $nextQueries (i32.lt_u (local.get $q) (local.get $queryCount)))))

  (func $horizontal (param $x v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.add (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x)))))

  ;; Reads everything in [from, to), a multiple of 128 bytes, and does as little as possible with it.
  (func (export "readAll") (param $from i32) (param $to i32) (result i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (loop $next
      (local.set $a (i32x4.add (local.get $a) (v128.load (local.get $from))))
      (local.set $b (i32x4.add (local.get $b) (v128.load offset=16 (local.get $from))))
      (local.set $c (i32x4.add (local.get $c) (v128.load offset=32 (local.get $from))))
      (local.set $d (i32x4.add (local.get $d) (v128.load offset=48 (local.get $from))))
      (local.set $a (i32x4.add (local.get $a) (v128.load offset=64 (local.get $from))))
      (local.set $b (i32x4.add (local.get $b) (v128.load offset=80 (local.get $from))))
      (local.set $c (i32x4.add (local.get $c) (v128.load offset=96 (local.get $from))))
      (local.set $d (i32x4.add (local.get $d) (v128.load offset=112 (local.get $from))))
      (local.set $from (i32.add (local.get $from) (i32.const 128)))
      (br_if $next (i32.lt_u (local.get $from) (local.get $to))))
    (i32x4.extract_lane 0 (i32x4.add (i32x4.add (local.get $a) (local.get $b)) (i32x4.add (local.get $c) (local.get $d))))))
